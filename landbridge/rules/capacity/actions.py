"""Rules about scripts of pools (`actions`): buckets, keys, time limits, sizes, and the check of their program."""

import json
from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.catalog.aws.access.iam import iam
from landbridge.catalog.aws.limits import limits
from landbridge.environment import ActionScript, Environment
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.plan.aws.access.actions import (
    action_objects,
    action_seconds,
    actions_data,
    hub_class,
    pool_actions,
    script_statements,
)
from landbridge.plan.aws.access.iam_policies import ArnContext, deny_restricted_classes
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.resource_names import ACCOUNT_DIGITS
from landbridge.rules.environment_paths import POOLS, REGION, PoolAt, pools, suggestion
from landbridge.rules.registry import rule

#: Characters of the other statements of the nodes' role: Slurm's key and the roles of jobs.
_OTHER_STATEMENTS_CHARACTERS = 2500


def _scripts(environment: Environment) -> Iterator[tuple[PoolAt, DataPath, ActionScript]]:
    """Yield every script with its pool and its path."""
    for owner in pools(environment):
        for event, index, script in owner.pool.actions.scripts():
            yield owner, owner.at("actions", event, index), script


@rule
def action_region(environment: Environment) -> Iterator[Finding]:
    """The bucket of a script is in a region of the same partition that the nodes reach.

    A VPC without NAT has a gateway endpoint, which leads to S3 of its own region only.
    Source: AWS PrivateLink guide, "Gateway endpoints for Amazon S3", Considerations; landbridge/catalog/regions.yaml.
    """
    home = regions().get(environment.region)
    for _, path, script in _scripts(environment):
        if script.region is None or script.region == environment.region:
            continue
        at, region = (*path, "region"), regions().get(script.region)
        if region is None:
            yield error(at, f'there is no region "{script.region}"', fix=suggestion(script.region, regions()))
        elif home is not None and region.partition != home.partition:
            message = f"{script.region} is in the partition {region.partition}, and the nodes in {home.partition}"
            yield error(at, message, fix=f"copy the script into a bucket in {environment.region}", related=(REGION,))
        elif environment.aws.nat == "none" and environment.aws.vpc is None:
            message = f"nodes without NAT reach S3 of {environment.region} only, and the bucket is in {script.region}"
            fix = f"copy the script into a bucket in {environment.region}, or write nat: single"
            yield error(at, message, fix=fix, related=(REGION, ("aws", "nat"), ("aws", "vpc")))


@rule
def action_in_hub(environment: Environment) -> Iterator[Finding]:
    """A script in a bucket of the data hub is in a bucket that exists, and in the environment's region.

    Jobs of the class may write in that bucket. A changed script has another checksum: no node runs it, and none starts.
    Source: Landbridge, docs/decisions/0037-credentials-by-data-class.md and docs/explanation/node-image-contract.md.
    """
    for _, path, script in _scripts(environment):
        name = hub_class(environment, script)
        if name is None:
            continue
        related: tuple[DataPath, ...] = (("data_classes", name),)
        if "aws" not in environment.data_classes[name].sites:
            message = f"the class {name} may not be in AWS, so it has no bucket {script.bucket}"
            yield error((*path, "script"), message, fix="write a bucket that exists", related=related)
        elif script.region not in (None, environment.region):
            message = f"{script.bucket} is a bucket of the data hub, which is in {environment.region}"
            yield error((*path, "region"), message, fix="remove it", related=(*related, (*path, "script"), REGION))
        else:
            message = f"jobs of the class {name} can overwrite {script.script}, after which no node starts"
            fix = "use a bucket in which only operators write"
            yield info((*path, "script"), message, fix=fix, related=related)


@rule
def action_key(environment: Environment) -> Iterator[Finding]:
    """The KMS key of a script is in the region of its bucket, and is not written for a bucket of the data hub.

    Source: S3 User Guide, "Using server-side encryption with AWS KMS keys": bucket and key are in one region.
    """
    for _, path, script in _scripts(environment):
        if script.kms_key is None:
            continue
        at, related, region = (*path, "kms_key"), ((*path, "script"),), script.region or environment.region
        if hub_class(environment, script) is not None:
            message = f"{script.bucket} is a bucket of the data hub, whose key is known"
            yield error(at, message, fix="remove it", related=related)
        elif script.kms_key.split(":")[3] != region:
            message = f"the bucket is in {region}, and {script.kms_key} is not"
            fix = f"write the key of {region}, or region: {script.kms_key.split(':')[3]}"
            yield error(at, message, fix=fix, related=((*path, "region"), REGION))


@rule
def action_time(environment: Environment) -> Iterator[Finding]:
    """The time limits of a pool's scripts, and the boot of a GPU node, are together within resume_timeout.

    After resume_timeout Slurm sets the node down without the reason, and the burst controller terminates it.
    Source: slurm.conf(5), ResumeTimeout; boot times in landbridge/catalog/limits.yaml.
    """
    for owner in pools(environment):
        total, limit = action_seconds(owner.pool.actions), owner.pool.resume_timeout
        path, related = owner.at("actions"), (owner.at("resume_timeout"), owner.at("instance"))
        boot = limits().boot.minutes[1] * 60 if owner.type is not None and owner.type.accelerators is not None else 0
        if total and total >= limit:
            message = f"the time limits of the scripts are {total} s together, and resume_timeout is {limit} s"
            yield error(path, message, fix="write a shorter timeout, or a longer resume_timeout", related=related)
        elif total and total + boot > limit:
            message = f"the scripts may take {total} s and the boot {boot} s; resume_timeout is {limit} s"
            yield warning(path, message, fix=f"write resume_timeout: {total + boot}", related=related)


@rule
def action_other_region(environment: Environment) -> Iterator[Finding]:
    """Nodes in another region download scripts from the bucket in the environment's region.

    The transfer goes through NAT of that region and is billed; without access to that bucket no node starts there.
    Source: Landbridge, docs/decisions/0035-another-region.md; S3 pricing, data transfer.
    """
    for owner, path, script in _scripts(environment):
        for name, region in environment.aws.other_regions.items():
            bucket_region = script.region or environment.region
            if owner.pool.name in region.pools and bucket_region != name:
                message = f"nodes of {owner.pool.name} in {name} download the script from {bucket_region}"
                related: tuple[DataPath, ...] = (("aws", "other_regions"), owner.at("name"), REGION)
                yield info((*path, "script"), message, related=related)


@rule
def action_unchecked(environment: Environment) -> Iterator[Finding]:
    """A pool with scripts has the check of units: an image without their program would start nodes that run none.

    Source: Landbridge, docs/explanation/node-image-contract.md.
    """
    skip = environment.aws.node_checks.skip
    for owner in pools(environment):
        if owner.pool.actions.scripts() and "units" in skip:
            message = f"the check of units is skipped: an image without the program runs no script of {owner.pool.name}"
            path: DataPath = ("aws", "node_checks", "skip", skip.index("units"))
            yield error(path, message, fix="remove units", related=(owner.at("actions"),))


@rule
def action_user_data_size(environment: Environment) -> Iterator[Finding]:
    """A pool's scripts and arguments fit half of a launch template's user data; the other half has its other settings.

    Source: EC2 User Guide, "Run commands when you launch an EC2 instance with user data input"
    (landbridge/catalog/limits.yaml).
    """
    limit = limits().launch_template.user_data_bytes // 2
    for owner in pools(environment):
        # In the user data the pool's file is a text of JSON inside JSON.
        size = len(json.dumps(json.dumps(actions_data(pool_actions(owner.pool)))))
        if size > limit:
            message = f"the scripts and their arguments have {size} bytes in the user data; {limit} are available"
            yield error(owner.at("actions"), message, fix="write fewer arguments, or one script that runs the others")


@rule
def action_policy_size(environment: Environment) -> Iterator[Finding]:
    """The objects of all pools' scripts fit the size limit of the inline policies of the nodes' role.

    Source: IAM User Guide, "IAM and AWS STS quotas": aggregate size of a role's inline policies.
    """
    objects = action_objects(environment)
    if not objects:
        return
    place = ArnContext(environment.name, "aws-us-gov", environment.region, "0" * ACCOUNT_DIGITS)
    restricted = [name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites]
    denials = deny_restricted_classes(
        place.partition, restricted, [bucket_prefix(environment.name, name) for name in restricted]
    )
    statements = [*script_statements(objects, place, {}), *denials]
    size = len(json.dumps(statements, separators=(",", ":"))) + _OTHER_STATEMENTS_CHARACTERS
    limit = iam().limits.inline_policy_characters
    if size > limit:
        message = f"the nodes' role has about {size} characters; the inline policies of a role are limited to {limit}"
        yield error(POOLS, message, fix="use fewer scripts, or shorter keys")
