"""Rules about the resources of IAM statements: the form, partition, region and account of their ARNs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog import regions
from landbridge.catalog.aws.access.iam import iam, iam_actions
from landbridge.environment import Environment, Statement
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.environment_paths import node_policies
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")
_ACCOUNT: DataPath = ("aws", "account")
_REGION: DataPath = ("region",)
# Kinds of S3's resources that are in an account and a region, other than buckets and objects.
_S3_KINDS = re.compile(r"(accesspoint|access-grants|job|storage-lens|storage-lens-group|async-request)(/|$)")


@dataclass(frozen=True, slots=True)
class _Arn:
    path: DataPath
    statement: Statement
    text: str
    partition: str
    service: str
    region: str
    account: str
    resource: str


@rule
def iam_resource_form(environment: Environment) -> Iterator[Finding]:
    """A resource is * or an ARN with six parts: otherwise IAM refuses the whole policy.

    Source: IAM User Guide, "IAM JSON policy elements: Resource"; AWS General Reference, "Amazon Resource Names".
    """
    for path, _, text in _resources(environment):
        if text == "*" or _parse(text) is not None:
            continue
        fix = "write arn:aws:service:region:account:resource, or *"
        if text.startswith("s3://"):
            fix = f"write arn:aws:s3:::{text.removeprefix('s3://')}"
        elif re.fullmatch(r"[a-zA-Z0-9-]+:[A-Z][A-Za-z*]+", text):
            fix = "move it to actions: it has the form of an action"
        elif text.startswith("arn:") and text.split(":")[2:3] == ["s3"] and text.count(":") < 5:
            fix = f"write arn:aws:s3:::{text.rsplit(':', 1)[1]}"
        yield error(path, f'"{text}" is neither * nor an ARN', fix=fix)


@rule
def iam_partition(environment: Environment) -> Iterator[Finding]:
    """An ARN has the partition of the region: aws-us-gov in GovCloud, aws-cn in China; IAM refuses any other.

    Source: AWS General Reference, "Amazon Resource Names": partition.
    """
    region = regions().get(environment.region)
    if region is None:
        return
    named = [(path, text.split(":")[1]) for path, _, text in _resources(environment) if text.startswith("arn:")]
    for path, text in _policies(environment):
        named.append((path, text.split(":")[1]))
    for index, pool in enumerate(environment.aws.pools):
        for number, capacity in enumerate(pool.capacity):
            group = getattr(capacity, "group", None)
            if isinstance(group, str):
                named.append((("aws", "pools", index, "capacity", number, "group"), group.split(":")[1]))
    for path, partition in named:
        if partition not in (region.partition, "*"):
            message = f"the ARN has the partition {partition}; {environment.region} is in {region.partition}"
            yield error(path, message, fix=f"write arn:{region.partition}:…", related=(_REGION,))


@rule
def iam_other_account(environment: Environment) -> Iterator[Finding]:
    """An ARN has the account of the environment: a resource of another account needs a resource policy there too.

    A customer-managed policy of another account cannot be attached at all.
    Source: IAM User Guide, "Cross account resource access in IAM"; IAM AttachRolePolicy.
    """
    environment_account = environment.aws.account
    if environment_account is None:
        return
    for arn in _arns(environment):
        if arn.account.isdigit() and arn.account != environment_account:
            message = f"the ARN is in account {arn.account}; the environment's account is {environment_account}"
            fix = "suppress this if that account shares the resource; otherwise correct the account"
            yield warning(arn.path, message, fix=fix, related=(_ACCOUNT,))
    for path, text in _policies(environment):
        account = text.split(":")[4]
        if account.isdigit() and account != environment_account:
            message = f"the policy is in account {account}; roles are created in {environment_account}"
            yield error(path, message, fix=f"copy the policy to {environment_account}", related=(_ACCOUNT,))


@rule
def iam_arn_parts(environment: Environment) -> Iterator[Finding]:
    """An ARN has the region and the account that its service uses: otherwise it matches no resource.

    Source: Service Authorization Reference: the ARN formats of each service.
    """
    shapes = iam().arns
    for arn in _arns(environment):
        message = fix = None
        if arn.service == "s3" and not _S3_KINDS.match(arn.resource):
            if arn.region or arn.account:
                message = "the ARN of a bucket has neither region nor account"
                fix = f"write arn:{arn.partition}:s3:::{arn.resource}"
        elif arn.service in shapes.both and not (arn.region and arn.account):
            message = f"ARNs of {arn.service} have a region and an account"
            fix = f"write arn:{arn.partition}:{arn.service}:{arn.region or '*'}:{arn.account or '*'}:{arn.resource}"
        elif arn.service in shapes.account and (arn.region or not arn.account):
            message = f"ARNs of {arn.service} have an account and no region"
            fix = f"write arn:{arn.partition}:{arn.service}::{arn.account or environment.aws.account or '*'}:{arn.resource}"
        elif arn.service in shapes.neither and (arn.region or arn.account):
            message = f"ARNs of {arn.service} have neither region nor account"
            fix = f"write arn:{arn.partition}:{arn.service}:::{arn.resource}"
        elif "*" not in arn.service and arn.service not in iam().services:
            near = did_you_mean(arn.service, iam().services)
            message = f'AWS has no service "{arn.service}"'
            fix = f'did you mean "{near}"?' if near else None
        if message is not None:
            yield error(arn.path, message, fix=fix)


@rule
def iam_unknown_region(environment: Environment) -> Iterator[Finding]:
    """A region in an ARN exists, and is usually the environment's: nodes use resources of their own region.

    Source: AWS Regions, as in landbridge/catalog/regions.yaml.
    """
    for arn in _arns(environment):
        if not arn.region or "*" in arn.region or arn.region == environment.region:
            continue
        if arn.region not in regions():
            near = did_you_mean(arn.region, regions())
            fix = f'did you mean "{near}"?' if near else None
            yield error(arn.path, f'there is no region "{arn.region}"', fix=fix)
        elif environment.region in regions():
            message = f"the ARN is in {arn.region}; the nodes are in {environment.region}"
            yield warning(
                arn.path, message, fix=f"write {environment.region}, if the resource is there", related=(_REGION,)
            )


@rule
def iam_other_service(environment: Environment) -> Iterator[Finding]:
    """A statement has resources of its actions' services: on resources of other services an action allows nothing.

    Source: Service Authorization Reference: the resource types of each action.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        parsed = [_parse(text) for text in statement.resources]
        services = {parsed_arn[1] for parsed_arn in parsed if parsed_arn is not None}
        if len(services) == 0 or None in parsed or any("*" in service for service in services):
            continue
        for number, action in enumerate(statement.actions):
            service, _, name = action.partition(":")
            service_actions = iam_actions(service.lower())
            if (
                service_actions is None
                or "*" in service_actions.arns
                or not name
                or services & set(service_actions.arns)
            ):
                continue
            if name.lower() not in (action_name.lower() for action_name in service_actions.none):
                base: DataPath = (*_STATEMENTS, index)
                message = f"{action} does not apply to resources of {', '.join(sorted(services))}, and the statement has no others"
                fix = f"add resources of {service.lower()}, or move the action to a separate statement"
                at = (*base, "actions", number)
                yield warning(at, message, fix=fix, related=((*base, "resources"),))


def _resources(environment: Environment) -> Iterator[tuple[DataPath, Statement, str]]:
    for index, statement in enumerate(environment.aws.iam.node_statements):
        for number, text in enumerate(statement.resources):
            yield (*_STATEMENTS, index, "resources", number), statement, text


def _arns(environment: Environment) -> Iterator[_Arn]:
    for path, statement, text in _resources(environment):
        parts = _parse(text)
        if parts is not None:
            yield _Arn(path, statement, text, *parts)


def _parse(text: str) -> tuple[str, str, str, str, str] | None:
    """Return partition, service, region, account and resource; None for a text that is not an ARN, such as *."""
    parts = text.split(":", 5)
    if len(parts) < 6 or parts[0] != "arn" or not parts[1] or not parts[2] or not parts[5]:
        return None
    partition, service, region, account, resource = parts[1:]
    whole = re.fullmatch(r"aws[a-z-]*|\*", partition) and re.fullmatch(r"\d{12}|aws|\*|[\d*?]*|", account)
    return (partition, service, region, account, resource) if whole else None


def _policies(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    iam_settings = environment.aws.iam
    if iam_settings.permissions_boundary is not None:
        yield ("aws", "iam", "permissions_boundary"), iam_settings.permissions_boundary
    yield from node_policies(environment)
