"""Rules about IAM roles: managed policies, permissions boundary, path and sizes."""

import json
from collections.abc import Iterator

from landbridge.catalog.aws.access.iam import iam, managed_policies
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.aws.access.iam_policies import ArnContext, deny_restricted_classes
from landbridge.plan.aws.access.job_roles import job_roles, trust
from landbridge.plan.aws.access.launch_policy import launch, launch_targets
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.resource_names import ACCOUNT_DIGITS
from landbridge.rules.environment_paths import node_policies, pools
from landbridge.rules.registry import rule

_POLICIES: DataPath = ("aws", "iam", "node_policies")
#: Characters of Landbridge's own statements: data hub, Slurm's key and features in use.
_OWN_CHARACTERS = 2500
#: Characters of a controller's other rights in AWS: terminate, read, hub, database, session.
_OTHER_RIGHTS_CHARACTERS = 3500


@rule(suppressible=False)
def too_wide_policy(environment: Environment) -> Iterator[Finding]:
    """Nodes have no AWS managed policy with broad permissions: agents of nodes need few.

    Source: IAM User Guide, "Security best practices in IAM"; the policies' own documents.
    """
    wide = iam().too_wide
    for path, name in _named(environment):
        if name in wide:
            message = f"{name} gives every node {wide[name]}"
            yield error(
                path, message, fix="attach the policy of the agent; write the actions that jobs need in node_statements"
            )


@rule
def unknown_policy(environment: Environment) -> Iterator[Finding]:
    """An AWS managed policy exists, and its ARN has the right path.

    A warning if the catalogue does not have the name: AWS adds policies every month.
    Source: AWS Managed Policy Reference, as in landbridge/catalog/iam_policies.yaml.
    """
    for path, arn in node_policies(environment):
        arn_head, _, name = arn.partition(":policy/")
        folder, policy = (f"{name.rpartition('/')[0]}/" if "/" in name else ""), name.rpartition("/")[2]
        if not arn_head.endswith(":aws"):
            continue
        if folder == "aws-service-role/":
            message = f"{policy} is a policy of a service-linked role; no other role can have it"
            yield error(path, message, fix="remove it")
        if policy in managed_policies().get(folder, ()):
            continue
        actual_path = next(
            (kind for kind, managed_policy in managed_policies().items() if policy in managed_policy), None
        )
        if actual_path is not None:
            message = f"the policy {policy} does not have the path {folder or '/'}"
            yield error(path, message, fix=f"write {arn_head}:policy/{actual_path}{policy}")
        else:
            near = did_you_mean(
                policy,
                [policy_name for managed_policy in managed_policies().values() for policy_name in managed_policy],
            )
            fix = f'did you mean "{near}"?' if near else None
            message = f"the catalogue has no AWS managed policy {policy}"
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
    shared, limits = environment.aws.iam.node_policies, iam().limits
    max_policies = environment.aws.quotas.get(limits.managed_policies_quota, limits.managed_policies_per_role)
    fix = f"merge policies, or request an increase of quota {limits.managed_policies_quota} and write it in aws.quotas"
    roles: list[tuple[DataPath, tuple[str, ...], tuple[str, ...]]] = [(_POLICIES, (), shared)]
    roles += [(at.at("node_policies"), shared, at.pool.node_policies) for at in pools(environment)]
    for path, inherited, arns in roles:
        related: tuple[DataPath, ...] = (_POLICIES,) if inherited else ()
        for index, arn in enumerate(arns):
            if arn in (*inherited, *arns[:index]):
                message = f"the policy {arn} is repeated"
                yield warning((*path, index), message, fix="remove it", related=related)
        number = len({*inherited, *arns})
        if arns and number > max_policies:
            message = f"{number} managed policies on one role; AWS allows {max_policies}"
            yield error(path, message, fix=fix, related=(("aws", "quotas"), *related))


@rule
def boundary_as_policy(environment: Environment) -> Iterator[Finding]:
    """The permissions boundary is not attached as a policy: a boundary limits permissions and grants none.

    Source: IAM User Guide, "Permissions boundaries for IAM entities".
    """
    boundary = environment.aws.iam.permissions_boundary
    for path, arn in node_policies(environment):
        if boundary is not None and arn == boundary:
            message = "the permissions boundary is also attached as a policy"
            related: tuple[DataPath, ...] = (("aws", "iam", "permissions_boundary"),)
            yield error(path, message, fix="remove it from node_policies", related=related)


@rule
def role_path(environment: Environment) -> Iterator[Finding]:
    """The path of roles is not reserved by AWS, and has at most 512 characters.

    Source: IAM User Guide, "IAM identifiers": paths have 512 characters at most; /aws-service-role/ and /aws-reserved/
    are AWS's own.
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


@rule
def launch_policy_size(environment: Environment) -> Iterator[Finding]:
    """The launch role's policy fits the size limit of a role's inline policies.

    It contains the pools' instance types, and the ARNs of existing subnets, security groups, placement groups,
    reservations and image parameters.
    Source: IAM User Guide, "IAM and AWS STS quotas": aggregate size of a role's inline policies.
    """
    region, cluster = environment.region, environment.name
    place = ArnContext(cluster, "aws-us-gov", region, "0" * ACCOUNT_DIGITS, tuple(environment.aws.other_regions))
    # Denials of classes that stay on-prem are in the same policy; a controller in AWS has all rights in one role.
    restricted = [name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites]
    statements = [
        *launch(place, launch_targets(environment), _node_role_arns(environment), "s" * 100),
        *deny_restricted_classes(place.partition, restricted, [bucket_prefix(cluster, name) for name in restricted]),
    ]
    other_rights = 0 if environment.aws.services is None else _OTHER_RIGHTS_CHARACTERS
    size, limit = (
        len(json.dumps(statements, separators=(",", ":"))) + other_rights,
        iam().limits.inline_policy_characters,
    )
    if size > limit:
        message = f"the launch role's policy has about {size} characters; the inline policies of a role are limited to {limit}"
        fix = "use fewer instance types, existing security groups and reservations, or a group of reservations"
        yield error(("aws", "pools"), message, fix=fix)


@rule
def trust_policy_size(environment: Environment) -> Iterator[Finding]:
    """The trust policy of a data class's job role fits its size limit: it names every role of nodes.

    Each pool with node_policies has its own role.
    Source: IAM User Guide, "IAM and AWS STS quotas": role trust policy length, which the quota in
    landbridge/catalog/iam.yaml raises.
    """
    own_roles = [at for at in pools(environment) if at.pool.node_policies]
    if not own_roles:
        return
    place = ArnContext(environment.name, "aws-us-gov", environment.region, "0" * ACCOUNT_DIGITS)
    anchor = f"arn:aws-us-gov:rolesanywhere:{environment.region}:{'0' * ACCOUNT_DIGITS}:trust-anchor/{'0' * 36}"
    limits = iam().limits
    limit = environment.aws.quotas.get(limits.trust_policy_quota, limits.trust_policy_characters)
    arns = _node_role_arns(environment)
    for job in job_roles(environment):
        size = len("".join(trust(job, place, arns, anchor).split()))
        if size > limit:
            message = (
                f"the trust policy of the jobs of {job.data_class} has about {size} characters; AWS allows {limit}"
            )
            fix = f"use one set of policies in aws.iam.node_policies, or request an increase of quota {limits.trust_policy_quota} and write it in aws.quotas"
            related: tuple[DataPath, ...] = (("aws", "iam", "anywhere"), ("onprem", "nodes"), ("aws", "quotas"))
            yield error(own_roles[-1].at("node_policies"), message, fix=fix, related=related)
            return


def _named(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """Yield the path and name of each AWS managed policy, without its IAM path."""
    for path, arn in node_policies(environment):
        if arn.split(":")[4] == "aws":
            yield path, arn.rsplit("/", 1)[1]


def _node_role_arns(environment: Environment) -> list[str]:
    """Return an ARN of the longest form for the nodes' role and each role of a pool."""
    own_roles = sum(1 for at in pools(environment) if at.pool.node_policies)
    head = f"arn:aws-us-gov:iam::{'0' * ACCOUNT_DIGITS}:role{environment.aws.iam.path}"
    return [f"{head}{'r' * iam().limits.role_name}"] * (1 + own_roles)
