"""Rules about IAM roles: managed policies, permissions boundary, path and sizes."""

import json
from collections.abc import Iterator

from landbridge.catalog.aws.iam import iam, managed_policies
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.registry import rule

_POLICIES: DataPath = ("aws", "iam", "node_policies")
#: Characters of Landbridge's own statements: data hub, Slurm's key and features in use.
_OWN_CHARACTERS = 2500


@rule(suppressible=False)
def too_wide_policy(environment: Environment) -> Iterator[Finding]:
    """Nodes have no AWS managed policy with broad permissions: every job has the permissions of its node.

    Source: IAM User Guide, "Security best practices in IAM"; the policies' own documents.
    """
    wide = iam().too_wide
    for path, name in _named(environment):
        if name in wide:
            message = f"{name} gives every node, and so every job, {wide[name]}"
            yield error(path, message, fix="write the actions that jobs need in node_statements")


@rule
def unknown_policy(environment: Environment) -> Iterator[Finding]:
    """An AWS managed policy exists, and its ARN has the right path.

    A warning where the catalogue does not have the name: AWS adds policies every month.
    Source: AWS Managed Policy Reference, as in landbridge/catalog/iam_policies.yaml.
    """
    for index, arn in enumerate(environment.aws.iam.node_policies):
        head, _, name = arn.partition(":policy/")
        path: DataPath = (*_POLICIES, index)
        folder, last = (f"{name.rpartition('/')[0]}/" if "/" in name else ""), name.rpartition("/")[2]
        if not head.endswith(":aws"):
            continue
        if folder == "aws-service-role/":
            message = f"{last} is a policy of a service-linked role; no other role can have it"
            yield error(path, message, fix="remove it")
        if last in managed_policies().get(folder, ()):
            continue
        right = next((kind for kind, managed_policy in managed_policies().items() if last in managed_policy), None)
        if right is not None:
            message = f"the policy {last} does not have the path {folder or '/'}"
            yield error(path, message, fix=f"write {head}:policy/{right}{last}")
        else:
            near = did_you_mean(
                last, [policy_name for managed_policy in managed_policies().values() for policy_name in managed_policy]
            )
            fix = f'did you mean "{near}"?' if near else None
            message = f"the catalogue has no AWS managed policy {last}"
            yield warning(path, message, fix=fix)


@rule
def retired_policy(environment: Environment) -> Iterator[Finding]:
    """No deprecated AWS managed policy is attached: AWS does not maintain it and may remove it.

    Source: AWS Managed Policy Reference, "Deprecated AWS managed policies".
    """
    for path, name in _named(environment):
        if name in iam().retired:
            fix = f"use {iam().retired[name]}"
            yield warning(path, f"AWS has deprecated the policy {name}", fix=fix)


@rule
def repeated_policy(environment: Environment) -> Iterator[Finding]:
    """Each managed policy is attached once, and their number is within the quota of a role.

    Source: IAM User Guide, "IAM and AWS STS quotas": managed policies per role.
    """
    arns = environment.aws.iam.node_policies
    for index, arn in enumerate(arns):
        if arn in arns[:index]:
            message = f"the policy {arn} is repeated"
            yield warning((*_POLICIES, index), message, fix="remove it")
    limits = iam().limits
    most = environment.aws.quotas.get(limits.managed_policies_quota, limits.managed_policies_per_role)
    if len(set(arns)) > most:
        message = f"{len(set(arns))} managed policies on one role; AWS allows {most}"
        fix = f"merge policies, or request an increase of quota {limits.managed_policies_quota} and write it in aws.quotas"
        yield error(_POLICIES, message, fix=fix, related=(("aws", "quotas"),))


@rule
def boundary_as_policy(environment: Environment) -> Iterator[Finding]:
    """The permissions boundary is not attached as a policy: a boundary limits permissions and grants none.

    Source: IAM User Guide, "Permissions boundaries for IAM entities".
    """
    boundary = environment.aws.iam.permissions_boundary
    for index, arn in enumerate(environment.aws.iam.node_policies):
        if boundary is not None and arn == boundary:
            message = "the permissions boundary is also attached as a policy"
            related: tuple[DataPath, ...] = (("aws", "iam", "permissions_boundary"),)
            yield error((*_POLICIES, index), message, fix="remove it from node_policies", related=related)


@rule
def role_path(environment: Environment) -> Iterator[Finding]:
    """The path of roles is not reserved by AWS, and has at most 512 characters.

    Source: IAM User Guide, "IAM identifiers": paths have 512 characters at most; /aws-service-role/ and /aws-reserved/ are
    AWS's own.
    """
    role_path, limits = environment.aws.iam.path, iam().limits
    path: DataPath = ("aws", "iam", "path")
    for reserved in iam().reserved_paths:
        if role_path.startswith(reserved):
            yield error(
                path,
                f"the path {reserved} is reserved for AWS's own roles",
                fix="write another path, such as /landbridge/",
            )
    if len(role_path) > limits.path:
        yield error(path, f"the path has {len(role_path)} characters; IAM allows {limits.path}")


@rule
def policy_size(environment: Environment) -> Iterator[Finding]:
    """The statements fit the size limit of a role's inline policies; white space does not count.

    Source: IAM User Guide, "IAM and AWS STS quotas": aggregate size of a role's inline policies.
    """
    statements = environment.aws.iam.node_statements
    written = [
        {
            "Effect": statement.effect,
            "Action": statement.actions,
            "Resource": statement.resources,
            "Condition": statement.conditions,
        }
        for statement in statements
    ]
    size = len(json.dumps(written, separators=(",", ":"), default=str)) + _OWN_CHARACTERS
    limit = iam().limits.inline_policy_characters
    if statements and size > limit:
        message = f"the statements have about {size} characters; the inline policies of a role are limited to {limit}"
        fix = "use wildcards, or attach a customer managed policy in node_policies"
        yield error(("aws", "iam", "node_statements"), message, fix=fix)


def _named(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """Yield the path and name of each AWS managed policy, without its IAM path."""
    for index, arn in enumerate(environment.aws.iam.node_policies):
        if arn.split(":")[4] == "aws":
            yield (*_POLICIES, index), arn.rsplit("/", 1)[1]
