"""Policies of IAM roles, policies and users."""

from collections.abc import Iterator
from typing import Any

from landbridge.policy.registry import policy
from landbridge.policy.resource import Resource, as_list, maps, statements
from landbridge.policy.settings import PolicySettings

_DOCUMENTS = ("aws:iam/policy:Policy", "aws:iam/rolePolicy:RolePolicy", "aws:iam/groupPolicy:GroupPolicy")
ROLE, ATTACHMENT = "aws:iam/role:Role", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
#: Prefixes of the names of actions that only read.
_READ_PREFIXES = ("Describe", "List", "Get", "View", "BatchGet", "Search")


@policy(*_DOCUMENTS, ROLE)
def no_star_iam(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """No role may use every action, or every action of a service; actions that change resources list their resources.

    On every resource (`*`) only actions that read are allowed, or a statement with a condition.
    Source: IAM User Guide, "Apply least-privilege permissions"; IAM.1 and IAM.21 of the best practices.
    """
    documents = [resource.props.get("policy")]
    documents += [inline_policy.get("policy") for inline_policy in maps(resource.props.get("inlinePolicies"))]
    for document in documents:
        for statement in statements(document):
            if statement.get("Effect") == "Allow":
                yield from _loose(statement)


def _loose(statement: Any) -> Iterator[str]:
    sid = statement.get("Sid") or "a statement"
    actions = [str(action) for action in as_list(statement.get("Action"))]
    if "NotAction" in statement or "NotResource" in statement:
        yield f"{sid}: allows everything except what it lists"
    for action in actions:
        if action == "*" or action.endswith(":*"):
            yield f"{sid}: allows the action {action}"
    writing = [action for action in actions if not action.partition(":")[2].startswith(_READ_PREFIXES)]
    if "*" in as_list(statement.get("Resource")) and writing and not statement.get("Condition"):
        yield f"{sid}: allows {', '.join(writing)} on every resource"


@policy("aws:iam/accessKey:AccessKey", "aws:iam/user:User", "aws:iam/userLoginProfile:UserLoginProfile")
def no_static_keys(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """There are no IAM users and no access keys without an expiry: hosts use roles, operators sign in.

    Source: IAM User Guide, "Security best practices in IAM": require temporary credentials.
    """
    yield f"{resource.type.rsplit(':', 1)[1]} is a long-lived credential: use a role, or IAM Roles Anywhere"


@policy(ATTACHMENT, ROLE)
def no_administrators(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """No role has an AWS managed policy with broad permissions.

    Source: AWS managed policy reference: AdministratorAccess, PowerUserAccess, IAMFullAccess.
    """
    arns = [resource.props.get("policyArn"), *as_list(resource.props.get("managedPolicyArns"))]
    for arn in arns:
        name = str(arn).rsplit("/", 1)[-1]
        if name in ("AdministratorAccess", "PowerUserAccess") or (
            name.endswith("FullAccess") and ":aws:policy" in str(arn)
        ):
            yield f"has the policy {name}"


@policy(ROLE)
def narrow_trust(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """The trust policy of a role does not permit every principal.

    Source: IAM User Guide, "The confused deputy problem".
    """
    for statement in statements(resource.props.get("assumeRolePolicy")):
        principal = statement.get("Principal")
        names = (
            [principal]
            if isinstance(principal, str)
            else [name for value in (principal or {}).values() for name in as_list(value)]
        )
        if statement.get("Effect") == "Allow" and "*" in names:
            yield "assumeRolePolicy allows every principal"
