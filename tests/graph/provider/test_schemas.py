"""CloudFormation's schemas in the provider: values that each refuses, and the types that have no schema."""

from typing import Any

import pulumi
import pytest

from sandbox.pulumi_provider.aws import RESOURCE_TYPES, AwsResource
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.all_checks import all_problems
from sandbox.pulumi_provider.checks.cloudformation_schemas import schema_of, schema_problems
from sandbox.pulumi_provider.checks.json_schema import Judge

TEMPLATE, SUBNET, ROUTE = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/subnet:Subnet", "aws:ec2/route:Route"
LUSTRE, EFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem"
DATABASE, FUNCTION = "aws:rds/instance:Instance", "aws:lambda/function:Function"
RULES = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"


def reasons_by_path(token: str, inputs: dict[str, Any]) -> dict[str, str]:
    return {sdk_args.spell(path): reason for path, reason in schema_problems(token, inputs)}


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
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
        # properties that exclude or require each other
        (DATABASE, {"engine": "mariadb", "backupRetentionPeriod": 36}, "backupRetentionPeriod", "at most 35"),
        (DATABASE, {"engine": "mariadb", "kmsKeyId": "k", "storageEncrypted": False}, "storageEncrypted", "not one of"),
        (SUBNET, {"availabilityZone": "us-east-1a", "availabilityZoneId": "use1-az4"}, "availabilityZoneId", "not beside"),
    ],
)  # fmt: skip
def test_a_value_that_a_schema_refuses(token: str, inputs: dict[str, Any], path: str, reason: str) -> None:
    problems = reasons_by_path(token, inputs)
    assert path in problems and reason in problems[path], problems
    assert (path, problems[path]) in [
        (sdk_args.spell(location), text) for location, text in all_problems(token, inputs)
    ]


@pytest.mark.parametrize(
    ("token", "inputs"),
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
def test_values_that_a_schema_accepts(token: str, inputs: dict[str, Any]) -> None:
    assert reasons_by_path(token, inputs) == {}


#: Types for which CloudFormation has no resource, or none with properties to check.
WITHOUT_SCHEMA = {
    "aws:costexplorer/costAllocationTag:CostAllocationTag",
    "aws:ec2transitgateway/peeringAttachmentAccepter:PeeringAttachmentAccepter",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:s3/bucketObject:BucketObject",
    "aws:ssm/activation:Activation",
}


def test_only_these_types_have_no_schema() -> None:
    assert {token for token, resource in RESOURCE_TYPES.items() if resource.cloudformation is None} == WITHOUT_SCHEMA


def test_a_type_without_a_decision_about_its_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="cloudformation"):
        type("NewResource", (AwsResource,), {"token": "aws:new/thing:Thing"})


@pytest.mark.parametrize("token", sorted(set(RESOURCE_TYPES) - WITHOUT_SCHEMA))
def test_a_schema_exists_and_has_the_names_of_the_row(token: str) -> None:
    row = RESOURCE_TYPES[token].cloudformation
    assert row is not None
    schema = schema_of(row.type)
    judge = Judge(schema.get("definitions", {}), {})
    places = [judge.resolved(schema["properties"][place] if place else schema) for place in row.at]
    known = {name for place in places for name in judge.resolved(place.get("items", place)).get("properties", {})}
    cls = sdk_args.args_class(token)
    assert cls is not None and set(row.names) <= set(sdk_args.fields(cls)), token
    assert set(row.names.values()) <= known, set(row.names.values()) - known
    common = {name.lower() for name in known} & {row.names.get(key, key).lower() for key in sdk_args.fields(cls)}
    assert common, f"{token}: nothing of {row.type} would be checked"
