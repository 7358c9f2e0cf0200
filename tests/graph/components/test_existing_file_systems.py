"""Existing FSx and EFS file systems: mounted by nodes, and no resources of the stack."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.aws.storage import storage as facts
from landbridge.plan.outputs import StackOutputs
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply
from tests.graph.components.pools.test_network_and_pools import wrong
from tests.graph.components.test_cloud_mounts import pool_settings
from tests.graph.components.test_existing_network import existing_vpc
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import graph_of
from tests.graph.support.file_system_settings import stored
from tests.graph.support.inventory import client, left

IN, OUT = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)
LUSTRE, EFS, ZFS, ONTAP = (f"fs-0123456789abcdef{number}" for number in range(4))
SVM = "svm-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"
TWO = f"""cloud_shares:
  sets: {{kind: existing_lustre, id: {LUSTRE}, mount_name: abcdefgh, zone: use1-az4, data_class: internal, mount: /sets, read_only: true}}
  models: {{kind: existing_efs, id: {EFS}, data_class: internal, mount: /models}}"""
FOUR = f"""{TWO}
  homes: {{kind: existing_openzfs, id: {ZFS}, volume_path: /fsx/homes, zone: use1-az4, data_class: internal, mount: /homes}}
  results: {{kind: existing_ontap, id: {ONTAP}, svm: {SVM}, junction_path: /vol1, zone: use1-az4, data_class: internal, mount: /results}}"""


@pytest.fixture
def in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def file_system_resources(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes.values() if node.type.startswith(("aws:fsx/", "aws:efs/"))]


def rules(graph: Graph) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield direction, group, peer, and ports of each rule for existing file systems."""
    for token, direction in ((IN, "in"), (OUT, "out")):
        for node in graph.of_type(token):
            if "-existing-" in node.name:
                peer = node.inputs.get("referencedSecurityGroupId") or node.inputs["cidrIpv4"]
                ports = (node.inputs["fromPort"], node.inputs["toPort"])
                yield direction, node.inputs["securityGroupId"], peer, *ports


@pytest.mark.usefixtures("in_the_tree")
@pytest.mark.parametrize("preview", [True, False])
def test_existing_file_systems_are_mounted_and_not_created(tmp_path: Path, preview: bool) -> None:
    graph = graph_of(tmp_path, stored(FOUR), preview=preview)
    assert wrong(graph) == {} and file_system_resources(graph) == []
    # The plan knows the names, so that also a preview knows the user data.
    mounts = {mount["mount"]: mount for mount in pool_settings(graph)["mounts"]}
    assert {mount["source"] for mount in mounts.values()} == {
        f"{LUSTRE}.fsx.us-east-1.amazonaws.com@tcp:/abcdefgh",
        f"{EFS}:/",
        f"{ZFS}.fsx.us-east-1.amazonaws.com:/fsx/homes",
        f"{SVM}.{ONTAP}.fsx.us-east-1.amazonaws.com:/vol1",
    }
    assert [mounts[key]["type"] for key in ("/sets", "/models", "/homes", "/results")] == [
        "lustre",
        "efs",
        "nfs4",
        "nfs4",
    ]
    assert mounts["/sets"]["options"].endswith(",ro,nosuid,nodev") and ",ro" not in mounts["/models"]["options"]
    if preview:
        return
    systems = StackOutputs.model_validate(graph.outputs).file_systems
    assert {name: system.kind for name, system in systems.items()} == {
        "sets": "existing_lustre",
        "models": "existing_efs",
        "homes": "existing_openzfs",
        "results": "existing_ontap",
    }
    assert systems["sets"].mount_name == "abcdefgh" and systems["sets"].security_group_id is None


@pytest.mark.usefixtures("in_the_tree")
def test_the_nodes_group_gets_the_ports_once(tmp_path: Path) -> None:
    created = list(rules(graph_of(tmp_path, stored(FOUR))))
    lustre = [(ports.first, ports.last) for ports in facts().fsx_lustre.ports]
    group, cidr = "variant-p5-id", "10.60.0.0/16"
    # NFS servers of three file systems have the same port and the same range: EC2 refuses an equal rule.
    expected = {("out", group, cidr, 2049, 2049)}
    expected |= {(direction, group, cidr, *ports) for direction in ("in", "out") for ports in lustre}
    assert set(created) == expected and len(created) == len(expected)


@pytest.mark.usefixtures("in_the_tree")
def test_a_named_group_is_the_peer_of_the_rules(tmp_path: Path) -> None:
    named = TWO.replace("mount: /models}", f"mount: /models, security_groups: [{GROUP}]}}")
    peers = {peer for _, _, peer, *ports in rules(graph_of(tmp_path, stored(named))) if 2049 in ports}
    assert peers == {GROUP}


@pytest.mark.usefixtures("in_the_tree")
def test_a_further_existing_file_system_renames_nothing(tmp_path: Path) -> None:
    assert set(graph_of(tmp_path, stored(TWO)).nodes) == set(graph_of(tmp_path, stored(FOUR)).nodes)


@pytest.mark.usefixtures("in_the_tree")
def test_an_access_point_is_mounted_by_the_helper(tmp_path: Path) -> None:
    share = f"cloud_shares: {{a: {{kind: existing_efs, id: {EFS}, access_point: fsap-0123456789abcdef0, data_class: internal, mount: /a}}}}"
    (mount,) = pool_settings(graph_of(tmp_path, stored(share)))["mounts"]
    assert (mount["type"], mount["source"]) == ("efs", f"{EFS}:/")
    assert mount["options"] == "tls,iam,accesspoint=fsap-0123456789abcdef0,_netdev,nosuid,nodev"


def test_destroy_leaves_existing_file_systems_as_they_were(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    ec2, fsx, efs = (client(cloud, service) for service in ("ec2", "fsx", "efs"))
    empty = left(cloud)
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        for zone, cidr in (("use1-az4", "10.60.128.0/20"), ("use1-az6", "10.60.192.0/20"))
    ]
    group = ec2.create_security_group(GroupName="storage", Description="storage", VpcId=vpc)["GroupId"]
    lustre = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=subnets[:1],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]
    models = efs.create_file_system(CreationToken="models", Encrypted=True)["FileSystemId"]
    target = efs.create_mount_target(FileSystemId=models, SubnetId=subnets[0], SecurityGroups=[group])["MountTargetId"]

    def described() -> Any:
        systems = fsx.describe_file_systems(FileSystemIds=[lustre["FileSystemId"]])["FileSystems"]
        shared = efs.describe_file_systems(FileSystemId=models)["FileSystems"]
        targets = efs.describe_mount_targets(FileSystemId=models)["MountTargets"]
        owned = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
        # EFS measures the size at the time of the query.
        return systems, [{**system, "SizeInBytes": None} for system in shared], targets, owned

    before, owned_before = left(cloud), described()
    name = lustre["LustreConfiguration"]["MountName"]
    shares = TWO.replace(LUSTRE, lustre["FileSystemId"]).replace("abcdefgh", f'"{name}"').replace(EFS, models)
    shares = shares.replace("mount: /models}", f"mount: /models, security_groups: [{group}]}}")
    text = environment_file.read_text()
    for old, new in (existing_vpc(vpc, *subnets), stored(shares)):
        assert old in text
        text = text.replace(old, new)
    environment_file.write_text(text)
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    systems = applied.outputs.file_systems
    assert systems["sets"].source == f"{lustre['DNSName']}@tcp:/{name}"
    assert described() == owned_before, "neither its tags nor its groups change"
    pool = ec2.describe_security_groups(GroupIds=[applied.outputs.pools["p5"].security_group_id])["SecurityGroups"][0]
    peers = [pair["GroupId"] for rule in pool["IpPermissionsEgress"] for pair in rule["UserIdGroupPairs"]]
    assert group in peers
    applied.destroy()
    assert left(cloud) == before and described() == owned_before
    efs.delete_mount_target(MountTargetId=target)
    efs.delete_file_system(FileSystemId=models)
    fsx.delete_file_system(FileSystemId=lustre["FileSystemId"])
    ec2.delete_security_group(GroupId=group)
    for subnet in subnets:
        ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_vpc(VpcId=vpc)
    assert left(cloud) == empty
