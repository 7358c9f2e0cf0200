"""Customer managed KMS keys of disks: the keys that an environment's disks may have, and the rights to use them.

EBS uses a key with the permissions of the principal that launches or starts an instance. Without them EC2 accepts the
call, and ends or stops the instance seconds later with Client.InternalError.
Source: EBS User Guide, "Requirements for Amazon EBS encryption", permissions for users; EC2 User Guide, "Instance
terminates immediately"; for a start aws-solutions/instance-scheduler-on-aws#9 (kms:CreateGrant), 2026-11-29.
"""

from collections.abc import Iterator, Sequence

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.aws.access.iam_policies import ArnContext, Statement, allow, single_or_list
from landbridge.plan.aws.access.onprem_hosts import optional_hosts
from landbridge.plan.other_regions import other_regions

#: Action of a start; a launch needs all of them.
GRANT = ("kms:CreateGrant",)
USE = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)


def disk_keys(environment: Environment) -> dict[str, DataPath]:
    """Return the ARNs of the keys of the images that pools boot, and of the other keys in the file, with their paths."""
    environments = (environment, *other_regions(environment).values())
    booted = {pool.image for regional in environments for pool in regional.aws.pools}
    keys: dict[str, DataPath] = {}
    for name, source in environment.aws.images.items():
        for region, key in source.build.kms_keys.items() if source.build is not None and name in booted else ():
            keys.setdefault(key, ("aws", "images", name, "build", "kms_keys", region))
    for index, key in enumerate(environment.aws.disk_keys):
        keys.setdefault(key, ("aws", "disk_keys", index))
    return keys


def region_of(key: str) -> str:
    """Return the region in a key's ARN."""
    return key.split(":")[3]


def users(environment: Environment) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each role that launches or starts instances, with the actions that it needs on keys of disks."""
    launch = "launch" if environment.aws.services is None else "controller"
    yield f"{environment.name}-{launch}", (*USE, *GRANT)
    if "serving" in optional_hosts(environment):
        yield f"{environment.name}-serving", GRANT


def use_disk_keys(place: ArnContext, keys: Sequence[str]) -> list[Statement]:
    """Return the statements to launch instances whose disks have these keys; none without keys."""
    if not keys:
        return []
    through_ec2 = {"StringEquals": {"kms:ViaService": _services(place, keys)}}
    return [allow("UseDiskKey", USE, single_or_list(keys), through_ec2), *grant_disk_keys(place, keys)]


def grant_disk_keys(place: ArnContext, keys: Sequence[str]) -> list[Statement]:
    """Return the statement to start instances whose disks have these keys; none without keys."""
    if not keys:
        return []
    for_ec2 = {
        "StringEquals": {"kms:ViaService": _services(place, keys)},
        "Bool": {"kms:GrantIsForAWSResource": "true"},
    }
    return [allow("GrantDiskKey", GRANT, single_or_list(keys), for_ec2)]


def _services(place: ArnContext, keys: Sequence[str]) -> str | list[str]:
    return single_or_list([f"ec2.{region}.{place.suffix}" for region in sorted(set(map(region_of, keys)))])
