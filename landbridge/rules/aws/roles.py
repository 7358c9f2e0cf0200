"""Rules about the roles themselves: managed policies, boundary, path and sizes."""

import json
from collections.abc import Iterator

from landbridge.catalog.aws.iam import iam, managed_policies
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.registry import rule

_POLICIES: DataPath = ("aws", "iam", "node_policies")
#: Landbridge's own: the hub, the key of Slurm, and what follows from features in use.
_OWN_CHARACTERS = 2500


@rule(suppressible=False)
def too_wide_policy(environment: Environment) -> Iterator[Finding]:
    """No policy of AWS's that opens the account is on nodes: whoever runs a job has its node's rights.

    Source: IAM User Guide, "Security best practices in IAM"; the policies' own documents.
    """
    wide = iam().too_wide
    for path, name in _named(environment):
        if name in wide:
            message = f"{name} gives every node, and so every job, {wide[name]}"
            yield error(path, message, fix="name in node_statements what jobs need")


@rule
def unknown_policy(environment: Environment) -> Iterator[Finding]:
    """A policy of AWS's is one that there is, with the folder that it is in.

    A warning where the name is of no policy that the catalogue has: AWS adds some every month.
    Source: AWS Managed Policy Reference, as in landbridge/catalog/iam_policies.yaml.
    """
    for index, arn in enumerate(environment.aws.iam.node_policies):
        head, _, name = arn.partition(":policy/")
        path: DataPath = (*_POLICIES, index)
        folder, last = (f"{name.rpartition('/')[0]}/" if "/" in name else ""), name.rpartition("/")[2]
        if not head.endswith(":aws"):
            continue
        if folder == "aws-service-role/":
            message = f"{last} is for a role of AWS's own; no other can have it"
            yield error(path, message, fix="remove it")
        if last in managed_policies().get(folder, ()):
            continue
        right = next((one for one, known in managed_policies().items() if last in known), None)
        if right is not None:
            message = f"{last} is not in the folder {folder or '/'}"
            yield error(path, message, fix=f"write {head}:policy/{right}{last}")
        else:
            near = did_you_mean(last, [one for known in managed_policies().values() for one in known])
            fix = f'did you mean "{near}"?' if near else None
            message = f"AWS has no policy {last}, as far as is known here"
            yield warning(path, message, fix=fix)


@rule
def retired_policy(environment: Environment) -> Iterator[Finding]:
    """A policy that AWS has retired may vanish, and is not mended any more.

    Source: AWS Managed Policy Reference, "Deprecated AWS managed policies".
    """
    for path, name in _named(environment):
        if name in iam().retired:
            fix = f"use {iam().retired[name]}"
            yield warning(path, f"{name} is retired", fix=fix)


@rule
def repeated_policy(environment: Environment) -> Iterator[Finding]:
    """A managed policy is attached once, and there are not more than a role may have.

    Source: IAM User Guide, "IAM and AWS STS quotas": managed policies per role.
    """
    arns = environment.aws.iam.node_policies
    for index, arn in enumerate(arns):
        if arn in arns[:index]:
            message = f"{arn} is attached already"
            yield warning((*_POLICIES, index), message, fix="remove it")
    limits = iam().limits
    most = environment.aws.quotas.get(limits.managed_policies_quota, limits.managed_policies_per_role)
    if len(set(arns)) > most:
        message = f"{len(set(arns))} managed policies on one role; AWS allows {most}"
        fix = f"merge some, or have quota {limits.managed_policies_quota} raised and write it in aws.quotas"
        yield error(_POLICIES, message, fix=fix, related=(("aws", "quotas"),))


@rule
def boundary_as_policy(environment: Environment) -> Iterator[Finding]:
    """A boundary limits what policies allow and allows nothing itself; the same one as policy is a mix-up.

    Source: IAM User Guide, "Permissions boundaries for IAM entities".
    """
    boundary = environment.aws.iam.permissions_boundary
    for index, arn in enumerate(environment.aws.iam.node_policies):
        if boundary is not None and arn == boundary:
            message = "the permissions boundary is attached as a policy too"
            related: tuple[DataPath, ...] = (("aws", "iam", "permissions_boundary"),)
            yield error((*_POLICIES, index), message, fix="remove it here", related=related)


@rule
def role_path(environment: Environment) -> Iterator[Finding]:
    """A role's path is one that accounts may use, and short enough.

    Source: IAM User Guide, "IAM identifiers": paths have 512 characters at most; /aws-service-role/ and /aws-reserved/ are
    AWS's own.
    """
    own, limits = environment.aws.iam.path, iam().limits
    path: DataPath = ("aws", "iam", "path")
    for reserved in iam().reserved_paths:
        if own.startswith(reserved):
            yield error(path, f"{reserved} is kept for AWS's own roles", fix="such as /landbridge/")
    if len(own) > limits.path:
        yield error(path, f"the path has {len(own)} characters; {limits.path} are possible")


@rule
def policy_size(environment: Environment) -> Iterator[Finding]:
    """A role's own policies have room for all its statements together; white space does not count.

    Source: IAM User Guide, "IAM and AWS STS quotas": aggregate size of a role's inline policies.
    """
    statements = environment.aws.iam.node_statements
    written = [
        {"Effect": one.effect, "Action": one.actions, "Resource": one.resources, "Condition": one.conditions}
        for one in statements
    ]
    size = len(json.dumps(written, separators=(",", ":"), default=str)) + _OWN_CHARACTERS
    limit = iam().limits.inline_policy_characters
    if statements and size > limit:
        message = f"the statements make a policy of about {size} characters; a role's inline policies have {limit}"
        fix = "use wildcards, or a managed policy of your own in node_policies"
        yield error(("aws", "iam", "node_statements"), message, fix=fix)


def _named(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """AWS's own policies by their names, without the folders some are in."""
    for index, arn in enumerate(environment.aws.iam.node_policies):
        if arn.split(":")[4] == "aws":
            yield (*_POLICIES, index), arn.rsplit("/", 1)[1]
