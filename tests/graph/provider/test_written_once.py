"""Mistakes that one function reports in three places: in the environment file by `check`, in any program by the policy
pack, and in the sandbox by the provider, which refuses what AWS would refuse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2 as pb

from landbridge.findings import DataPath
from landbridge.policy import POLICIES
from sandbox.pulumi_provider import serialization
from sandbox.pulumi_provider.provider import AwsProvider
from tests.graph.support.policy_pack_server import ask, serving
from tests.unit.rules.parts import BLOCK, CAPACITY, ON_DEMAND, POOL, SCRATCH, SHARES
from tests.unit.rules.row import Row

TAGS = {"landbridge:cluster": "c", "landbridge:owner": "o", "landbridge:cost-center": "1"}
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
LUSTRE, ZFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
EFS = "aws:efs/fileSystem:FileSystem"
INGRESS: DataPath = ("aws", "ingress", 0)
NICS: DataPath = (*POOL, "interfaces")


@dataclass(frozen=True)
class Case:
    """Mistake in a file and in a resource. `aws` is False if AWS accepts it."""

    message: str
    rule: str
    changes: Mapping[DataPath, Any]
    policy: str
    token: str
    inputs: Mapping[str, Any]
    aws: bool = True
    right: Mapping[str, Any] = field(default_factory=dict)


def disk(**ebs: Any) -> dict[str, Any]:
    return {
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeType": "gp3", "encrypted": "true", **ebs}}]
    }


def metadata_tags(key: str) -> dict[str, Any]:
    return {
        "metadataOptions": {"httpTokens": "required", "instanceMetadataTags": "enabled"},
        "tagSpecifications": [{"resourceType": "instance", "tags": {key: "1"}}],
    }


def nics(*interfaces: tuple[int, int, str]) -> dict[str, Any]:
    return {
        "instanceType": "p5.48xlarge",
        "networkInterfaces": [
            {"networkCardIndex": c, "deviceIndex": d, "interfaceType": kind} for c, d, kind in interfaces
        ],
    }


def written(*interfaces: tuple[int, int, str]) -> dict[DataPath, Any]:
    return {NICS: [{"card": c, "device": d, "type": kind} for c, d, kind in interfaces]}


def opened(**keys: Any) -> dict[DataPath, Any]:
    return {("aws", "ingress"): [{"source": "10.9.0.0/16", "protocol": "tcp", "why": "a test", **keys}]}


def lustre(**keys: Any) -> dict[DataPath, Any]:
    return {SCRATCH: {"kind": "fsx_lustre", **keys}}


PLAIN = {"securityGroupId": "sg-0123456789abcdef0", "ipProtocol": "tcp", "cidrIpv4": "10.0.0.0/8"}
PORTS = {"fromPort": 443, "toPort": 443}
SUBNET = {"subnetIds": "subnet-0123456789abcdef0"}
PERSISTENT = {**SUBNET, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 250, "storageCapacity": 4800}
ZFS_2 = {
    "subnetIds": ["subnet-0123456789abcdef0"],
    "deploymentType": "SINGLE_AZ_HA_2",
    "throughputCapacity": 320,
    "storageCapacity": 64,
}
BLOCKED = {
    "instanceMarketOptions": {"marketType": "capacity-block"},
    "capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": BLOCK["reservation"]}},
}

CASES = [
    Case("a gp3 volume has 3000 to 80000 IOPS, not 100000", "root-volume-limits", {(*POOL, "root_volume_iops"): 100_000},
         "possible-disks", TEMPLATE, disk(volumeSize=200, iops=100_000), right=disk(volumeSize=200, iops=3000)),
    Case("16000 IOPS are more than the 10000 that gp3 has on 20 GiB", "root-volume-limits",
         {(*POOL, "root_volume_gib"): 20, (*POOL, "root_volume_iops"): 16_000},
         "possible-disks", TEMPLATE, disk(volumeSize=20, iops=16_000), right=disk(volumeSize=32, iops=16_000)),
    Case("1000 MiB/s are more than the 750 that gp3 has at 3000 IOPS", "root-volume-limits", {(*POOL, "root_volume_throughput"): 1000},
         "possible-disks", TEMPLATE, disk(volumeSize=200, throughput=1000), right=disk(throughput=750)),
    Case("cannot be efa-only", "interface-layout", written((0, 0, "efa-only")),
         "efa-interfaces", TEMPLATE, nics((0, 0, "efa-only")), right=nics((0, 0, "interface"), (0, 1, "efa-only"))),
    Case("card 1 has device 0 twice", "interface-layout", written((0, 0, "interface"), (1, 0, "efa-only"), (1, 0, "interface")),
         "efa-interfaces", TEMPLATE, nics((0, 0, "interface"), (1, 0, "efa-only"), (1, 0, "interface"))),
    Case("card 1 of p5.48xlarge has no device 2", "interface-layout", written((0, 0, "interface"), (1, 2, "efa-only")),
         "efa-interfaces", TEMPLATE, nics((0, 0, "interface"), (1, 2, "efa-only"))),
    Case("p5.48xlarge has no network card 32", "interface-layout", written((0, 0, "interface"), (32, 0, "efa-only")),
         "efa-interfaces", TEMPLATE, nics((0, 0, "interface"), (32, 0, "efa-only"))),
    Case("a Capacity Block is launched into no placement group, and not into mine", "block-in-group",
         {CAPACITY: BLOCK, (*POOL, "placement_group"): "mine"},
         "no-group-with-block", TEMPLATE, {**BLOCKED, "placement": {"groupName": "mine"}}, right=BLOCKED),
    Case("tcp without ports", "ingress-ports", opened(),
         "possible-ports", RULE, PLAIN, right={**PLAIN, **PORTS}),
    Case("the range 9100-9000 goes backwards", "ingress-ports", opened(ports="9100-9000"),
         "possible-ports", RULE, {**PLAIN, "fromPort": 9100, "toPort": 9000}, right={**PLAIN, "ipProtocol": "-1"}),
    Case('the tag "aws:createdBy" begins with aws:', "tag-reserved", {("aws", "tags"): {"aws:createdBy": "me"}},
         "possible-tags", RULE, {**PLAIN, **PORTS, "tags": {"aws:createdBy": "me"}}, right={**PLAIN, **PORTS}),
    Case("a tag's value has at most 256 characters, not 300", "tag-form", {("aws", "tags"): {"note": "x" * 300}},
         "possible-tags", RULE, {**PLAIN, **PORTS, "tags": {"note": "x" * 300}}, right={**PLAIN, **PORTS}),
    Case('a tag\'s value cannot have ","', "tag-form", {("aws", "tags"): {"team": "vision, speech"}},
         "possible-tags", RULE, {**PLAIN, **PORTS, "tags": {"team": "vision, speech"}}, right={**PLAIN, **PORTS}),
    Case("AWS allows 50", "tag-count", {("aws", "tags"): {f"tag{number}": "x" for number in range(51)}},
         "possible-tags", RULE, {**PLAIN, **PORTS, "tags": {f"tag{number}": "x" for number in range(51)}}),
    Case("FSx for Lustre persistent_2 has no size of 5000 GiB", "lustre-options", lustre(capacity_gib=5000),
         "possible-file-systems", LUSTRE, {**PERSISTENT, "storageCapacity": 5000}, right=PERSISTENT),
    Case("scratch_2 leaves no choice of throughput", "lustre-options", lustre(deployment="scratch_2", throughput=250),
         "possible-file-systems", LUSTRE, {**PERSISTENT, "deploymentType": "SCRATCH_2"},
         right={**SUBNET, "deploymentType": "SCRATCH_2", "storageCapacity": 4800}),
    Case("scratch_2 has no backups", "lustre-options", lustre(deployment="scratch_2", backup_days=7),
         "possible-file-systems", LUSTRE,
         {**SUBNET, "deploymentType": "SCRATCH_2", "storageCapacity": 4800, "automaticBackupRetentionDays": 7}),
    Case("FSx for OpenZFS has 64 to", "openzfs-options", {(*SHARES, "home"): {"kind": "fsx_openzfs", "capacity_gib": 10}},
         "possible-file-systems", ZFS, {**ZFS_2, "storageCapacity": 10}, right=ZFS_2),
    Case("max_io and elastic exclude each other", "efs-options",
         {(*SHARES, "home"): {"kind": "efs", "performance": "max_io"}},
         "possible-file-systems", EFS, {"encrypted": True, "performanceMode": "maxIO", "throughputMode": "elastic"},
         right={"encrypted": True, "throughputMode": "elastic"}),
    # Mistakes that AWS accepts: this one until the first launch.
    Case('EC2 refuses the tag key "Cost Center"', "tag-form", {("aws", "tags"): {"Cost Center": "1"}},
         "possible-tags", TEMPLATE, metadata_tags("Cost Center"), aws=False, right=metadata_tags("CostCenter")),
    Case("4 hops everything behind the node", "metadata-hop-limit", {(*POOL, "imds_hop_limit"): 4},
         "imds-v2", TEMPLATE, {"metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 4}}, aws=False,
         right={"metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2}}),
    Case("0.0.0.0/0", "ingress-from-internet", opened(source="0.0.0.0/0", ports="443"),
         "no-world-ingress", RULE, {**PLAIN, **PORTS, "cidrIpv4": "0.0.0.0/0"}, aws=False, right={**PLAIN, **PORTS}),
    Case("128.0.0.0/1", "ingress-from-internet", opened(source="128.0.0.0/1", ports="443"),
         "no-world-ingress", RULE, {**PLAIN, **PORTS, "cidrIpv4": "128.0.0.0/1"}, aws=False),
]  # fmt: skip
IDS = [f"{case.policy}: {case.message}" for case in CASES]


@pytest.fixture(scope="module")
def analyzer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with serving(tmp_path_factory.getbasetemp()) as client:
        yield client


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_check_reports_it(case: Case) -> None:
    row = Row(case.rule, "", {CAPACITY: {**ON_DEMAND, "zones": ["use1-az4"]}, **case.changes}, (), case.message)
    messages = [finding.message for finding in row.report().findings if finding.rule == case.rule]
    assert any(case.message in message for message in messages), [str(finding) for finding in row.report().findings]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_pack_reports_it_for_any_program(case: Case, analyzer: Any) -> None:
    violations = ask(analyzer, case.token, **{"tags": TAGS, **case.inputs})
    assert any(case.message in message for message in violations.get(case.policy, ())), violations
    assert case.policy in POLICIES
    assert not case.right or case.policy not in ask(analyzer, case.token, **{"tags": TAGS, **case.right})


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_stand_in_refuses_what_aws_refuses(case: Case) -> None:
    reasons = _refused(case.token, case.inputs)
    assert any(case.message in reason for reason in reasons) == case.aws, reasons
    assert not case.right or _refused(case.token, case.right) == []


def _refused(token: str, inputs: Mapping[str, Any]) -> list[str]:
    urn = f"urn:pulumi:s::p::{token}::x"
    request = pb.CheckRequest(urn=urn, news=serialization.struct(dict(inputs)), randomSeed=b"0123456789abcdef")
    return [failure.reason for failure in AwsProvider().Check(request, None).failures]
