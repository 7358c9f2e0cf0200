"""CloudFormation's schemas as the provider uses them: what each refuses, and that every type has one or says why not."""

from typing import Any

import pulumi
import pytest

from sandbox.pulumi_provider import bags
from sandbox.pulumi_provider.aws import KINDS
from sandbox.pulumi_provider.aws.cfn import described, schema_of, schema_problems
from sandbox.pulumi_provider.aws.problems import all_problems
from sandbox.pulumi_provider.aws.schema import Judge

TEMPLATE, SUBNET, ROUTE = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/subnet:Subnet", "aws:ec2/route:Route"
LUSTRE, EFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem"
DATABASE, FUNCTION = "aws:rds/instance:Instance", "aws:lambda/function:Function"
RULES = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"


def found(token: str, bag: dict[str, Any]) -> dict[str, str]:
    return {bags.spell(path): reason for path, reason in schema_problems(token, bag)}


@pytest.mark.parametrize(
    ("token", "bag", "path", "reason"),
    [
        # enumerations
        (EFS, {"throughputMode": "turbo"}, "throughputMode", "is not one of"),
        ("aws:cloudtrail/trail:Trail", {"name": "t" * 129}, "name", "at most 128"),
        ("aws:ec2/placementGroup:PlacementGroup", {"spreadLevel": "zone"}, "spreadLevel", "is not one of"),
        (FUNCTION, {"architectures": ["riscv"]}, "architectures[0]", "is not one of"),
        (FUNCTION, {"packageType": "Jar"}, "packageType", "is not one of"),
        (TEMPLATE, {"instanceInitiatedShutdownBehavior": "sleep"}, "instanceInitiatedShutdownBehavior", "is not one of"),
        ("aws:s3/bucketVersioning:BucketVersioning", {"versioningConfiguration": {"status": "On"}}, "versioningConfiguration.status", "not one of"),
        # patterns
        ("aws:cloudwatch/logGroup:LogGroup", {"kmsKeyId": "alias/mine"}, "kmsKeyId", "does not match"),
        (FUNCTION, {"role": "reaper"}, "role", "does not match"),
        ("aws:kms/alias:Alias", {"name": "aliases/mine"}, "name", "does not match"),
        ("aws:efs/mountTarget:MountTarget", {"subnetId": "main"}, "subnetId", "does not match"),
        # ranges and counts
        (FUNCTION, {"memorySize": 64}, "memorySize", "at least 128"),
        (FUNCTION, {"timeout": 0}, "timeout", "at least 1"),
        ("aws:kms/key:Key", {"deletionWindowInDays": 3}, "deletionWindowInDays", "at least 7"),
        (FUNCTION, {"layers": ["l"], "architectures": ["x86_64", "arm64"]}, "architectures", "at most 1"),
        # what excludes what, or needs it
        (DATABASE, {"engine": "mariadb", "backupRetentionPeriod": 36}, "backupRetentionPeriod", "at most 35"),
        (DATABASE, {"engine": "mariadb", "kmsKeyId": "k", "storageEncrypted": False}, "storageEncrypted", "not one of"),
        (SUBNET, {"availabilityZone": "us-east-1a", "availabilityZoneId": "use1-az4"}, "availabilityZoneId", "not beside"),
    ],
)  # fmt: skip
def test_a_value_that_a_schema_refuses(token: str, bag: dict[str, Any], path: str, reason: str) -> None:
    problems = found(token, bag)
    assert path in problems and reason in problems[path], problems
    assert (path, problems[path]) in [(bags.spell(where), said) for where, said in all_problems(token, bag)]


@pytest.mark.parametrize(
    ("token", "bag"),
    [
        (EFS, {"throughputMode": "elastic", "encrypted": True}),
        (SUBNET, {"availabilityZoneId": "use1-az4", "cidrBlock": "10.0.0.0/24"}),
        (SUBNET, {"availabilityZone": None, "availabilityZoneId": "use1-az4"}),
        (FUNCTION, {"memorySize": 128, "architectures": ["arm64"], "tags": {"a": "b"}}),
        (TEMPLATE, {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true"}}]}),
        (FUNCTION, {"role": pulumi.output.Unknown()}),
        (DATABASE, {"engine": pulumi.output.Unknown(), "backupRetentionPeriod": 36}),
        (DATABASE, {"engine": "mariadb", "kmsKeyId": "k", "storageEncrypted": True}),
        ("aws:nothing/like:It", {"a": 1}),
    ],
)
def test_what_a_schema_takes(token: str, bag: dict[str, Any]) -> None:
    assert found(token, bag) == {}


def test_every_type_has_a_schema_or_is_named_without() -> None:
    table = described()
    assert set(KINDS) == set(table.types) | set(table.none), set(KINDS) ^ (set(table.types) | set(table.none))
    assert not set(table.types) & set(table.none)


@pytest.mark.parametrize("token", sorted(described().types))
def test_a_schema_is_there_and_has_the_names_that_the_table_gives(token: str) -> None:
    own = described().types[token]
    schema = schema_of(own.type)
    judge = Judge(schema.get("definitions", {}), {})
    places = [judge.resolved(schema["properties"][place] if place else schema) for place in own.at]
    known = {name for place in places for name in judge.resolved(place.get("items", place)).get("properties", {})}
    cls = bags.args_class(token)
    assert cls is not None and set(own.names) <= set(bags.fields(cls)), token
    assert set(own.names.values()) <= known, set(own.names.values()) - known
    common = {name.lower() for name in known} & {own.names.get(key, key).lower() for key in bags.fields(cls)}
    assert common, f"{token}: nothing of {own.type} would be judged"
