"""Rules about KMS keys of disks."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import Finding, error
from landbridge.plan.aws.access.disk_keys import disk_keys, region_of
from landbridge.rules.registry import rule


@rule
def disk_key_arn(environment: Environment) -> Iterator[Finding]:
    """A key of disks has the ARN of the key itself, not the ARN of an alias, and is in a region of the environment.

    The policies of the launching roles name the keys. IAM compares them with the key's own ARN, so that a launch with the
    ARN of an alias would end with Client.InternalError.
    Source: KMS Developer Guide, "Specifying KMS keys in IAM policy statements".
    """
    regions = (environment.region, *environment.aws.other_regions)
    for key, path in disk_keys(environment).items():
        if ":alias/" in key:
            fix = "write the key's ARN: aws kms describe-key --key-id ALIAS --query KeyMetadata.Arn"
            yield error(path, f"IAM ignores the alias {key} in a policy", fix=fix)
        elif region_of(key) not in regions:
            yield error(path, f"no node is in {region_of(key)}, the region of {key}", fix=f"use: {', '.join(regions)}")
