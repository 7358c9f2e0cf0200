"""Order in which IAM decides: denies first, then every limit, then the policies that allow.

Source: IAM User Guide, "Policy evaluation logic", "How AWS enforcement code logic evaluates requests to allow or deny
access", and "Permissions boundaries for IAM entities" for what a resource's own policy may grant past a boundary.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from landbridge.ops.iam.conditions import met
from landbridge.ops.iam.match import Context, Unresolved, arn_matches, equals, matches

#: How a resource's policy names who asks: the very session or user, its role or anybody, or only the account.
Named = Literal["session", "role", "account"]


class Answer(StrEnum):
    """Answer of IAM."""

    ALLOW = "allow"
    EXPLICIT_DENY = "explicit deny"
    IMPLICIT_DENY = "implicit deny"


@dataclass(frozen=True, slots=True)
class Request:
    """Principal, action and resource of a request. `principal` is a role's or user's ARN, or a service
    (`ec2.amazonaws.com`). `session` is the ARN of a role's session; `resource_account` is named where the resource is
    another account's.

    `session` is the ARN of a role's session; `resource_account` is named where the resource is another account's.
    """

    principal: str
    action: str
    resource: str
    context: Context = field(default_factory=dict)
    session: str | None = None
    resource_account: str | None = None

    @property
    def account(self) -> str:
        """The principal's account; a service has none."""
        return self.principal.split(":")[4] if self.principal.startswith("arn:") else ""


@dataclass(frozen=True, slots=True)
class Document:
    """Policy document, with the name that decisions give it."""

    name: str
    statements: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, name: str, text: str | Mapping[str, Any]) -> "Document":
        """Read a document in IAM's form."""
        document = json.loads(text) if isinstance(text, str) else text
        statements = document["Statement"]
        return cls(name, (statements,) if isinstance(statements, Mapping) else tuple(statements))


@dataclass(frozen=True, slots=True)
class Policies:
    """All policies that apply to a request. None: there is no such limit. `organization` are service and resource
    control policies, each of which must allow. `resource_decides`: the resource's policy must let IAM decide or allow
    by itself, as those of keys and of roles that are to be assumed.

    `organization` are service and resource control policies, each of which must allow. `resource_decides`: the resource's
    policy must let IAM decide or allow by itself, as those of keys and of roles that are to be taken.
    """

    identity: tuple[Document, ...] = ()
    resource: Document | None = None
    boundary: Document | None = None
    session: Document | None = None
    organization: tuple[Document, ...] = ()
    resource_decides: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Answer, with the document and statement that gave it or was missing."""

    answer: Answer
    why: str

    @property
    def allowed(self) -> bool:
        """Return true for an allow."""
        return self.answer is Answer.ALLOW


def evaluate(request: Request, policies: Policies) -> Decision:
    """Decide a request. Raises UnknownOperator for a condition that IAM would not have taken."""
    for document, of_resource in _all(policies):
        for statement in document.statements:
            if statement["Effect"] == "Deny" and _applies(statement, request, of_resource):
                return Decision(Answer.EXPLICIT_DENY, _spell(document, statement))
    for document in policies.organization:
        if _allowing(document, request) is None:
            return _implicit(f"{document.name} does not allow it")
    owned = _allowing_any(policies.identity, request)
    named, granted = _granted(policies.resource, request)
    foreign = request.resource_account not in (None, request.account) and bool(request.account)
    if foreign and (owned is None or granted is None):
        return _implicit("between accounts, both the identity's and the resource's policy must allow it")
    if policies.resource_decides and granted is None:
        return _implicit("the resource's own policy does not allow it")
    direct = granted if named in ("session", "role") and not foreign else None
    allowed = direct or owned
    if allowed is None:
        return _implicit("nothing allows it")
    if not (direct and named == "session"):
        for limit in (policies.boundary, policies.session):
            if limit is not None and _allowing(limit, request) is None:
                return _implicit(f"{limit.name} does not allow it")
    return Decision(Answer.ALLOW, allowed)


def _all(policies: Policies) -> Iterator[tuple[Document, bool]]:
    yield from ((document, False) for document in (*policies.organization, *policies.identity))
    yield from ((limit, False) for limit in (policies.boundary, policies.session) if limit is not None)
    if policies.resource is not None:
        yield policies.resource, True


def _implicit(why: str) -> Decision:
    return Decision(Answer.IMPLICIT_DENY, why)


def _spell(document: Document, statement: Mapping[str, Any]) -> str:
    return f"{document.name}: {statement.get('Sid', 'a statement without Sid')}"


def _allowing(document: Document, request: Request) -> str | None:
    statements = (
        statement
        for statement in document.statements
        if statement["Effect"] == "Allow" and _applies(statement, request, False)
    )
    return next((_spell(document, policy_statement) for policy_statement in statements), None)


def _allowing_any(documents: tuple[Document, ...], request: Request) -> str | None:
    return next((statement for document in documents if (statement := _allowing(document, request))), None)


def _granted(document: Document | None, request: Request) -> tuple[Named | None, str | None]:
    """Return how the resource's policy names the principal, the most direct way first, and the statement that does."""
    if document is None:
        return None, None
    granted: dict[Named, str] = {}
    for statement in document.statements:
        if statement["Effect"] == "Allow" and _applies(statement, request, True):
            named = _named(statement["Principal"], request) if "Principal" in statement else "account"
            granted.setdefault(named or "account", _spell(document, statement))
    order: tuple[Named, ...] = ("session", "role", "account")
    return next(((principal, granted[principal]) for principal in order if principal in granted), (None, None))


def _applies(statement: Mapping[str, Any], request: Request, of_resource: bool) -> bool:
    """Return true when a statement matches this request, whatever its effect."""
    try:
        return (
            (not of_resource or _speaks_of(statement, request))
            and _either(statement, "Action", lambda pattern: matches(pattern, request.action, {}, ignore_case=True))
            and _either(statement, "Resource", lambda pattern: arn_matches(pattern, request.resource, request.context))
            and met(statement.get("Condition", {}), request.context)
        )
    except Unresolved:
        return False


def _either(statement: Mapping[str, Any], element: str, test: Any) -> bool:
    """Match `Action`, or `NotAction` with the opposite meaning; a trust policy names no resource and means the role
    itself.
    """
    if element in statement:
        return any(map(test, _listed(statement[element])))
    if f"Not{element}" in statement:
        return not any(map(test, _listed(statement[f"Not{element}"])))
    return element == "Resource"


def _speaks_of(statement: Mapping[str, Any], request: Request) -> bool:
    if "NotPrincipal" in statement:
        return _named(statement["NotPrincipal"], request) is None
    return _named(statement.get("Principal", {}), request) is not None


def _named(principal: Any, request: Request) -> Named | None:
    """Return how a Principal element names the principal; None where it does not."""
    if principal == "*":
        return "role"
    principals: set[Named] = set()
    for kind, value in principal.items():
        for entry in _listed(value):
            if kind == "Service" and equals(entry, request.principal, {}):
                principals.add("role")
            elif kind == "AWS":
                principals |= _by_arn(entry, request)
    order: tuple[Named, ...] = ("session", "role", "account")
    return next((one for one in order if one in principals), None)


def _by_arn(arn: str, request: Request) -> set[Named]:
    if arn == "*":
        return {"role"}
    if arn == request.session or (arn == request.principal and ":user/" in arn):
        return {"session"}
    if arn == request.principal:
        return {"role"}
    account = arn if arn.isdigit() else arn.split(":")[4] if arn.endswith(":root") else ""
    return {"account"} if account and account == request.account else set()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
