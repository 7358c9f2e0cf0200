"""Values that AWS refuses and the SDK accepts: each is refused with its path; values that AWS accepts are accepted."""

from typing import Any

import pytest

from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.value_ranges import _pattern, _shape, range_problems, table

ROLE, TEMPLATE = "aws:iam/role:Role", "aws:ec2/launchTemplate:LaunchTemplate"
LUSTRE, ZFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
GROUP, BUCKET = "aws:ec2/securityGroup:SecurityGroup", "aws:s3/bucket:Bucket"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
LOGS, PROFILE = "aws:cloudwatch/logGroup:LogGroup", "aws:rolesanywhere/profile:Profile"
KEY, SUBNETS = "aws:kms/key:Key", ["subnet-0123456789abcdef0"]


def reasons_by_path(token: str, inputs: dict[str, Any]) -> dict[str, str]:
    reasons: dict[str, list[str]] = {}
    for path, reason in range_problems(token, inputs):
        reasons.setdefault(sdk_args.spell(path), []).append(reason)
    return {path: "; ".join(several) for path, several in reasons.items()}


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
    [
        (ROLE, {"name": "r" * 65}, "name", "65 characters, at most 64"),
        (ROLE, {"name": "a role"}, "name", "does not match"),
        (ROLE, {"name": "r", "maxSessionDuration": 60}, "maxSessionDuration", "at least 3600"),
        (ROLE, {"name": "r", "description": "d" * 1001}, "description", "at most 1000"),
        (ROLE, {"path": "x" * 513}, "path", "at most 512"),
        ("aws:iam/rolePolicy:RolePolicy", {"name": "p" * 129}, "name", "at most 128"),
        ("aws:kms/alias:Alias", {"name": "alias/" + "a" * 300}, "name", "at most 256"),
        (KEY, {"description": "d" * 9000}, "description", "at most 8192"),
        (KEY, {"keyUsage": "ENCRYPT"}, "keyUsage", "is not a value"),
        (TEMPLATE, {"name": "ab"}, "name", "at least 3"),
        (TEMPLATE, {"name": "with space"}, "name", "does not match"),
        (TEMPLATE, {"instanceType": "p5.48xlrge"}, "instanceType", "is not a value"),
        (
            TEMPLATE,
            {"instanceMarketOptions": {"marketType": "capacity_block"}},
            "instanceMarketOptions.marketType",
            "is not a value",
        ),
        ("aws:ec2/placementGroup:PlacementGroup", {"strategy": "clustered"}, "strategy", "is not a value"),
        (LUSTRE, {"deploymentType": "PERSISTENT_3"}, "deploymentType", "is not a value"),
        (LUSTRE, {"perUnitStorageThroughput": 10}, "perUnitStorageThroughput", "at least 12"),
        (LUSTRE, {"automaticBackupRetentionDays": 91}, "automaticBackupRetentionDays", "at most 90"),
        (LUSTRE, {"weeklyMaintenanceStartTime": "8:00:00"}, "weeklyMaintenanceStartTime", "does not match"),
        (LUSTRE, {"subnetIds": ["main"]}, "subnetIds[0]", "does not match"),
        (LUSTRE, {"dataCompressionType": "lz4"}, "dataCompressionType", "is not a value"),
        (ZFS, {"deploymentType": "MULTI_AZ_9"}, "deploymentType", "is not a value"),
        (ZFS, {"throughputCapacity": 4}, "throughputCapacity", "at least 8"),
        (GROUP, {"name": "sg-mine"}, "name", "does not match"),
        (GROUP, {"description": "the nodes' own"}, "description", "does not match"),
        (RULE, {"description": "d" * 256}, "description", "at most 255"),
        (RULE, {"fromPort": 70000}, "fromPort", "at most 65535"),
        (BUCKET, {"bucket": "Capital"}, "bucket", "does not match"),
        (BUCKET, {"bucket": "b" * 64}, "bucket", "at most 63"),
        (BUCKET, {"tags": {f"k{number}": "v" for number in range(51)}}, "tags", "51 tags; AWS allows 50"),
        (BUCKET, {"tags": {"aws:mine": "v"}}, "tags.aws:mine", "only AWS sets"),
        (BUCKET, {"tags": {"k": "v" * 257}}, "tags.k", "at most 256"),
        (LOGS, {"name": "n" * 513}, "name", "at most 512"),
        (LOGS, {"retentionInDays": 31}, "retentionInDays", "is not one of"),
        (PROFILE, {"durationSeconds": 60}, "durationSeconds", "at least 900"),
        ("aws:efs/fileSystem:FileSystem", {"throughputMode": "burst"}, "throughputMode", "is not a value"),
        (TEMPLATE, {"networkInterfaces": [{}], "vpcSecurityGroupIds": ["sg-1"]}, "vpcSecurityGroupIds", "not beside"),
        (TEMPLATE, {"networkInterfaces": [{}, {"deviceIndex": 0}]}, "networkInterfaces[1]", "a second interface"),
        (
            TEMPLATE,
            {"networkInterfaces": [{"associatePublicIpAddress": "true"}, {"deviceIndex": 1}]},
            "networkInterfaces[0].associatePublicIpAddress",
            "only if there is one",
        ),
        (
            TEMPLATE,
            {"instanceMarketOptions": {"marketType": "capacity-block"}},
            "capacityReservationSpecification",
            "required for a launch",
        ),
        (RULE, {"ipProtocol": "tcp", "cidrIpv4": "10.0.0.0/8"}, "fromPort", "without ports"),
        (RULE, {"ipProtocol": "tcp", "fromPort": 9, "toPort": 8, "cidrIpv4": "10.0.0.0/8"}, "fromPort", "backwards"),
        (RULE, {"ipProtocol": "-1"}, "cidrIpv4", "exactly one"),
        (RULE, {"ipProtocol": "-1", "cidrIpv4": "10.0.0.0/8", "prefixListId": "pl-1"}, "prefixListId", "exactly one"),
        (LUSTRE, {"deploymentType": "PERSISTENT_2", "importPath": "s3://b"}, "importPath", "data repository"),
        (LUSTRE, {"deploymentType": "PERSISTENT_2"}, "perUnitStorageThroughput", "needs one"),
        (
            LUSTRE,
            {"deploymentType": "SCRATCH_2", "perUnitStorageThroughput": 125},
            "perUnitStorageThroughput",
            "no choice",
        ),
        (
            LUSTRE,
            {"deploymentType": "SCRATCH_2", "automaticBackupRetentionDays": 7},
            "automaticBackupRetentionDays",
            "no back",
        ),
    ],
)
def test_a_value_that_aws_refuses(token: str, inputs: dict[str, Any], path: str, reason: str) -> None:
    problems = reasons_by_path(token, inputs)
    assert path in problems, problems
    assert reason in problems[path]


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (ROLE, {"name": "graph-node", "path": "/", "maxSessionDuration": 3600, "description": "nodes"}),
        (ROLE, {"path": "/teams/ml/"}),
        (LUSTRE, {"deploymentType": "PERSISTENT_2", "storageCapacity": 4800, "perUnitStorageThroughput": 1000}),
        (LUSTRE, {"subnetIds": SUBNETS, "weeklyMaintenanceStartTime": "1:04:30", "storageCapacity": 1200}),
        (TEMPLATE, {"networkInterfaces": [{"deviceIndex": 0}, {"deviceIndex": 1}, {"networkCardIndex": 1}]}),
        (RULE, {"ipProtocol": "-1", "referencedSecurityGroupId": "sg-1"}),
        (BUCKET, {"bucket": "graph-123456789012-internal", "tags": {"landbridge:owner": "a@b.example"}}),
        (GROUP, {"name": "graph-p5", "description": "Nodes of p5: EFA among themselves (all, in & out)"}),
        (LOGS, {"retentionInDays": 180}),
    ],
)
def test_values_that_aws_accepts_are_accepted(token: str, inputs: dict[str, Any]) -> None:
    assert reasons_by_path(token, inputs) == {}


def test_every_name_in_the_table_exists() -> None:
    for token, requests in table()["requests"].items():
        assert token in RESOURCE_TYPES, token
        members = {name for request in requests for name in _shape(request).members}
        names = table()["names"].get(token, {})
        assert set(names.values()) <= members and set(names) <= set(
            sdk_args.fields(sdk_args.args_class(token) or object)
        ), token
    for token, properties in table()["own"].items():
        assert token in RESOURCE_TYPES and set(properties) <= set(
            sdk_args.fields(sdk_args.args_class(token) or object)
        ), token


def test_patterns_that_python_cannot_read_are_few() -> None:
    """Such a pattern accepts every value: only those listed here are permitted."""

    def patterns(shape: Any, seen: set[str]) -> set[str]:
        if shape.name in seen:
            return set()
        seen.add(shape.name)
        direct = {shape.metadata["pattern"]} if "pattern" in shape.metadata else set()
        inner = shape.members.values() if shape.type_name == "structure" else ()
        inner = [shape.member] if shape.type_name == "list" else inner
        return direct.union(*(patterns(member, seen) for member in inner))

    requests = {request for several in table()["requests"].values() for request in several}
    every = set().union(*(patterns(_shape(request), set()) for request in requests))
    assert len(every) > 30
    # Patterns of tags, which are checked separately, and of descriptions with any text.
    known = (r"\p{L}\p{Z}\p{N}_.:/=+\-@", r"[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]*")
    assert [text for text in every if _pattern(text).pattern != text and not any(part in text for part in known)] == []
