"""Evaluation order of IAM: first denies, then all limits, then the policies that allow.

Source: IAM User Guide, "Policy evaluation logic", "How AWS enforcement code logic evaluates requests to allow or deny
access", and "Permissions boundaries for IAM entities" for permissions that a resource policy grants despite a boundary.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from landbridge.ops.iam.conditions import met
from landbridge.ops.iam.match import Context, Unresolved, arn_matches, equals, matches

#: Form in which a resource policy specifies the principal: the session or user, its role or everyone, or only the
#: account.
PrincipalForm = Literal["session", "role", "account"]


class Answer(StrEnum):
    """Answer of IAM to a request."""

    ALLOW = "allow"
    EXPLICIT_DENY = "explicit deny"
    IMPLICIT_DENY = "implicit deny"


@dataclass(frozen=True, slots=True)
class Request:
    """Principal, action and resource of a request. `principal` is a role's or user's ARN, or a service
    (`ec2.amazonaws.com`). `session` is the ARN of a role's session; `resource_account` is set if the resource belongs
    to another account.
    """

    principal: str
    action: str
    resource: str
    context: Context = field(default_factory=dict)
    session: str | None = None
    resource_account: str | None = None

    @property
    def account(self) -> str:
        """Return the principal's account; empty for a service."""
        return self.principal.split(":")[4] if self.principal.startswith("arn:") else ""


@dataclass(frozen=True, slots=True)
class Document:
    """Policy document, with its name in decisions."""

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
    """Policies that apply to a request. None: there is no such policy. `organization`: service and resource control
    policies, each of which must allow. `resource_decides`: the resource policy must allow the request or delegate it to
    IAM, as the policies of KMS keys and of assumed roles.
    """

    identity: tuple[Document, ...] = ()
    resource: Document | None = None
    boundary: Document | None = None
    session: Document | None = None
    organization: tuple[Document, ...] = ()
    resource_decides: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Answer with its reason: the document and statement, or the missing permission."""

    answer: Answer
    why: str

    @property
    def allowed(self) -> bool:
        """Return whether the request is allowed."""
        return self.answer is Answer.ALLOW


def evaluate(request: Request, policies: Policies) -> Decision:
    """Evaluate a request. Raises UnknownOperator for a condition that IAM would refuse."""
    for document, of_resource in _all(policies):
        for statement in document.statements:
            if statement["Effect"] == "Deny" and _applies(statement, request, of_resource):
                return Decision(Answer.EXPLICIT_DENY, _describe(document, statement))
    for document in policies.organization:
        if _allowing(document, request) is None:
            return _implicit(f"{document.name} does not allow it")
    identity_allow = _allowing_any(policies.identity, request)
    form, resource_allow = _granted(policies.resource, request)
    is_cross_account = request.resource_account not in (None, request.account) and bool(request.account)
    if is_cross_account and (identity_allow is None or resource_allow is None):
        return _implicit("between accounts, both the identity's and the resource's policy must allow it")
    if policies.resource_decides and resource_allow is None:
        return _implicit("the resource's own policy does not allow it")
    direct = resource_allow if form in ("session", "role") and not is_cross_account else None
    allowed = direct or identity_allow
    if allowed is None:
        return _implicit("nothing allows it")
    if not (direct and form == "session"):
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


def _describe(document: Document, statement: Mapping[str, Any]) -> str:
    return f"{document.name}: {statement.get('Sid', 'a statement without Sid')}"


def _allowing(document: Document, request: Request) -> str | None:
    statements = (
        statement
        for statement in document.statements
        if statement["Effect"] == "Allow" and _applies(statement, request, False)
    )
    return next((_describe(document, policy_statement) for policy_statement in statements), None)


def _allowing_any(documents: tuple[Document, ...], request: Request) -> str | None:
    return next((statement for document in documents if (statement := _allowing(document, request))), None)


def _granted(document: Document | None, request: Request) -> tuple[PrincipalForm | None, str | None]:
    """Return the most direct form in which the resource policy specifies the principal, and the statement; or None,
    None."""
    if document is None:
        return None, None
    granted: dict[PrincipalForm, str] = {}
    for statement in document.statements:
        if statement["Effect"] == "Allow" and _applies(statement, request, True):
            form = _form(statement["Principal"], request) if "Principal" in statement else "account"
            granted.setdefault(form or "account", _describe(document, statement))
    order: tuple[PrincipalForm, ...] = ("session", "role", "account")
    return next(((form, granted[form]) for form in order if form in granted), (None, None))


def _applies(statement: Mapping[str, Any], request: Request, of_resource: bool) -> bool:
    """Return whether a statement, with any effect, matches this request."""
    try:
        return (
            (not of_resource or _matches_principal(statement, request))
            and _matches_element(
                statement, "Action", lambda pattern: matches(pattern, request.action, {}, ignore_case=True)
            )
            and _matches_element(
                statement, "Resource", lambda pattern: arn_matches(pattern, request.resource, request.context)
            )
            and met(statement.get("Condition", {}), request.context)
        )
    except Unresolved:
        return False


def _matches_element(statement: Mapping[str, Any], element: str, test: Any) -> bool:
    """Match `Action`, or `NotAction` with the opposite meaning. A trust policy has no resource: it applies to the role
    itself.
    """
    if element in statement:
        return any(map(test, _as_list(statement[element])))
    if f"Not{element}" in statement:
        return not any(map(test, _as_list(statement[f"Not{element}"])))
    return element == "Resource"


def _matches_principal(statement: Mapping[str, Any], request: Request) -> bool:
    if "NotPrincipal" in statement:
        return _form(statement["NotPrincipal"], request) is None
    return _form(statement.get("Principal", {}), request) is not None


def _form(principal: Any, request: Request) -> PrincipalForm | None:
    """Return the most direct form in which a Principal element specifies the principal; None if it does not."""
    if principal == "*":
        return "role"
    forms: set[PrincipalForm] = set()
    for kind, value in principal.items():
        for entry in _as_list(value):
            if kind == "Service" and equals(entry, request.principal, {}):
                forms.add("role")
            elif kind == "AWS":
                forms |= _by_arn(entry, request)
    order: tuple[PrincipalForm, ...] = ("session", "role", "account")
    return next((form for form in order if form in forms), None)


def _by_arn(arn: str, request: Request) -> set[PrincipalForm]:
    if arn == "*":
        return {"role"}
    if arn == request.session or (arn == request.principal and ":user/" in arn):
        return {"session"}
    if arn == request.principal:
        return {"role"}
    account = arn if arn.isdigit() else arn.split(":")[4] if arn.endswith(":root") else ""
    return {"account"} if account and account == request.account else set()


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
