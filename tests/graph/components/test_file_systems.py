"""Shared file systems: recorded graphs, and graphs applied to the emulated AWS."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.aws.storage import storage as facts
from landbridge.plan.outputs import StackOutputs
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.graph import Graph, GraphNode, record
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.recorder import apply
from sandbox.pulumi_provider.serialization import unknown_inside
from tests.graph.components.pools.test_network_and_pools import wrong
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import PROTECTED, Answering, graph_of
from tests.graph.support.cloud_only_environment import write
from tests.graph.support.file_system_settings import ALL, LINKED, stored
from tests.graph.support.inventory import client, left

LUSTRE, LINK = (
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
)
OPENZFS, EFS = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "aws:efs/fileSystem:FileSystem"
KEY = "aws:kms/key:Key"
ACCESS_POINT, POLICY = "aws:efs/accessPoint:AccessPoint", "aws:efs/fileSystemPolicy:FileSystemPolicy"
IN, OUT = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def only(graph: Graph, token: str) -> GraphNode:
    (node,) = graph.of_type(token)
    return node


def rules(graph: Graph, name: str) -> set[tuple[str, str, str, str, Any]]:
    """Return (direction, group, peer, protocol, first port) of every rule of a file system."""
    return {
        (
            "in" if node.type == IN else "out",
            node.inputs["securityGroupId"],
            node.inputs["referencedSecurityGroupId"],
            node.inputs["ipProtocol"],
            node.inputs.get("fromPort"),
        )
        for node in (*graph.of_type(IN), *graph.of_type(OUT))
        if node.name.startswith(f"{name}-")
    }


@pytest.mark.parametrize("preview", [True, False])
def test_all_three_kinds_are_valid_and_have_mount_options(tmp_path: Path, preview: bool) -> None:
    graph = graph_of(tmp_path, stored(ALL), preview=preview)
    assert wrong(graph) == {}
    assert {node.name for token in (LUSTRE, OPENZFS, EFS) for node in graph.of_type(token)} == {
        "variant-cloud-scratch",
        "variant-share-homes",
        "variant-share-files",
    }
    if preview:
        assert unknown_inside(graph.outputs["file_systems"]["cloud_scratch"]["source"])
        return
    systems = StackOutputs.model_validate(graph.outputs).file_systems
    scratch, homes, files = systems["cloud_scratch"], systems["homes"], systems["files"]
    assert (scratch.type, scratch.source) == ("lustre", f"{scratch.dns_name}@tcp:/{scratch.mount_name}")
    assert (homes.type, homes.source, homes.mount) == ("nfs4", f"{homes.dns_name}:/fsx", "/homes")
    assert (files.type, files.source, files.zones) == ("efs", f"{files.id}:/", ("use1-az4", "use1-az6"))
    access_point = only(graph, ACCESS_POINT)
    assert files.options == f"tls,iam,accesspoint={access_point.name}-id,_netdev"


def test_efs_accepts_the_roles_of_its_clients_alone(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    access_point = only(graph, ACCESS_POINT)
    creation = {"ownerUid": 0, "ownerGid": 0, "permissions": "1777"}
    assert access_point.inputs["rootDirectory"] == {"path": "/share", "creationInfo": creation}
    statements = {row["Sid"]: row for row in json.loads(only(graph, POLICY).inputs["policy"])["Statement"]}
    assert set(statements) == {"MountAndWrite", "DenyClearText", "DenyWithoutAccessPoint"}
    assert statements["MountAndWrite"]["Principal"]["AWS"].endswith("variant-node")
    # No client reaches the file system before the policy is in effect.
    targets = graph.of_type("aws:efs/mountTarget:MountTarget")
    assert targets and all(any(POLICY in urn for urn in node.dependencies) for node in targets)


def test_efs_in_clear_text_has_no_policy(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL.replace("kind: efs,", "kind: efs, tls: false,")))
    assert graph.of_type(ACCESS_POINT) == graph.of_type(POLICY) == []
    files = StackOutputs.model_validate(graph.outputs).file_systems["files"]
    assert (files.type, files.source) == ("nfs4", f"{files.dns_name}:/")
    assert "nfsvers=4.1" in files.options and "hard" in files.options


def test_there_is_no_file_system_by_default(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert "file_systems" not in graph.outputs
    assert [node.name for node in graph.nodes.values() if "fsx" in node.type or "efs" in node.type] == []


@pytest.mark.parametrize("on", [True, False])
def test_data_and_its_key_are_protected_and_retained(tmp_path: Path, on: bool) -> None:
    graph = graph_of(tmp_path, stored(ALL), *([PROTECTED] if on else []))
    systems = [only(graph, token) for token in (LUSTRE, OPENZFS, EFS)]
    keys = [node for node in graph.of_type(KEY) if node.name in {system.name for system in systems}]
    assert len(keys) == 3
    for node in (*systems, *keys):
        assert (node.protect, node.retain) == (on, on), node.name
    assert only(graph, OPENZFS).inputs["skipFinalBackup"] is not on
    assert only(graph, LUSTRE).inputs["skipFinalBackup"] is True, "with a bucket behind it Lustre has no backups"
    assert "automaticBackupRetentionDays" not in only(graph, LUSTRE).inputs
    assert only(graph, OPENZFS).inputs["automaticBackupRetentionDays"] == 7
    policy = only(graph, "aws:efs/backupPolicy:BackupPolicy").inputs["backupPolicy"]
    assert policy == {"status": "ENABLED"}


def test_each_is_encrypted_with_its_own_key(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    for token in (LUSTRE, OPENZFS, EFS):
        node = only(graph, token)
        assert node.inputs["kmsKeyId"] == f"arn:aws:test:us-east-1:123456789012:{node.name}"
    assert only(graph, EFS).inputs["encrypted"] is True


def test_scratch_has_no_separate_key_and_no_backups(tmp_path: Path) -> None:
    scratch = "cloud_scratch: {kind: fsx_lustre, deployment: scratch_2, capacity_gib: 1200}"
    inputs = only(graph_of(tmp_path, stored(scratch), PROTECTED), LUSTRE).inputs
    assert inputs["skipFinalBackup"] is True and inputs["storageCapacity"] == 1200
    assert not {"kmsKeyId", "automaticBackupRetentionDays", "perUnitStorageThroughput"} & set(inputs)


def test_the_planned_ports_are_open_between_its_group_and_each_clients(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    group, pool = "variant-cloud-scratch-id", "variant-p5-id"
    firsts = {ports.first for ports in facts().fsx_lustre.ports}
    assert firsts == {988, 1018}
    expected = {
        (direction, mine, theirs, "tcp", port)
        for port in firsts
        for direction in ("in", "out")
        for mine, theirs in ((group, group), (group, pool), (pool, group))
    }
    assert rules(graph, "variant-cloud-scratch") == expected
    # NFS: egress for the client, ingress for the server.
    group = "variant-share-files-id"
    assert rules(graph, "variant-share-files") == {("in", group, pool, "tcp", 2049), ("out", pool, group, "tcp", 2049)}


def test_efa_passes_between_the_groups_for_every_protocol(tmp_path: Path) -> None:
    efa = "cloud_scratch: {kind: fsx_lustre, efa: true, capacity_gib: 19200, throughput: 250}"
    graph = graph_of(tmp_path, stored(efa))
    inputs = only(graph, LUSTRE).inputs
    assert inputs["efaEnabled"] is True and inputs["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    created = rules(graph, "variant-cloud-scratch")
    assert {(rule[3], rule[4]) for rule in created} == {("-1", None)} and len(created) == 6


def test_an_elastic_file_system_has_a_throughput_and_no_size(tmp_path: Path) -> None:
    elastic = "cloud_scratch: {kind: fsx_lustre, storage_type: intelligent_tiering, throughput: 8000}"
    graph = graph_of(tmp_path, stored(elastic))
    inputs = only(graph, LUSTRE).inputs
    assert wrong(graph) == {} and "storageCapacity" not in inputs and "perUnitStorageThroughput" not in inputs
    assert inputs["throughputCapacity"] == 8000 and inputs["metadataConfiguration"]["iops"] == 6000


def test_a_repository_is_the_hubs_bucket_and_fsx_may_use_its_key(tmp_path: Path) -> None:
    foreign = "cloud_scratch: {kind: fsx_lustre, repositories: [{folder: /in/sets, bucket: 's3://theirs/a'}]}"
    linked, theirs = graph_of(tmp_path, stored(LINKED)), graph_of(tmp_path, stored(foreign))
    shown = only(linked, LINK).inputs
    assert shown["dataRepositoryPath"] == "s3://variant-internal-123456789012" and shown["fileSystemPath"] == "/data"
    assert set(shown["s3"]) == {"autoImportPolicy", "autoExportPolicy"} and shown["deleteDataInFilesystem"] is False
    assert only(theirs, LINK).name == "variant-cloud-scratch-in-sets"
    assert "autoExportPolicy" not in only(theirs, LINK).inputs["s3"]

    def sids(graph: Graph) -> dict[str, Any]:
        (policy,) = [n.inputs["policy"] for n in graph.of_type(KEY) if n.name == "variant-internal"]
        return {statement["Sid"]: statement for statement in json.loads(policy)["Statement"]}

    assert set(sids(theirs)) == {"DelegateToIam"}
    condition = sids(linked)["AllowFsxDataRepositories"]["Condition"]
    assert condition["StringEquals"]["kms:CallerAccount"] == "123456789012"
    assert "AWSServiceRoleForFSxS3Access_fs-*" in condition["ArnLike"]["aws:PrincipalArn"]


def exports(graph: Graph) -> dict[str, list[str]]:
    """Return the options of each client of the OpenZFS export."""
    (export,) = [only(graph, OPENZFS).inputs["rootVolumeConfiguration"]["nfsExports"]]
    return {row["clients"]: row["options"] for row in export["clientConfigurations"]}


def test_root_of_a_node_is_not_root_on_openzfs(tmp_path: Path) -> None:
    share = "cloud_shares: {homes: {kind: fsx_openzfs, root_hosts: [10.60.0.9/32]}}"
    options = exports(graph_of(tmp_path, stored(share)))
    assert "root_squash" in options["10.60.0.0/16"] and "no_root_squash" not in options["10.60.0.0/16"]
    # A single address, not a range: the server prefers the options of an address to those of a range that contains it.
    assert "no_root_squash" in options["10.60.0.9"] and len(options) == 2


def test_the_host_that_creates_homes_is_root_on_openzfs(tmp_path: Path) -> None:
    file = write(
        tmp_path, "variant", ("home: {kind: efs}", "home: {kind: fsx_openzfs}"), endpoint="http://127.0.0.1:4580"
    )
    program, stack, config = program_of(file)
    options = exports(record(program, stack=stack, config=config, backing=Answering()))
    assert {clients for clients, rights in options.items() if "no_root_squash" in rights} == {"10.60.128.17"}


def test_a_second_zone_has_the_standby(tmp_path: Path) -> None:
    two = "cloud_shares: {homes: {kind: fsx_openzfs, deployment: multi_az_1, zone: use1-az6}}"
    graph = graph_of(tmp_path, stored(two))
    inputs = only(graph, OPENZFS).inputs
    assert inputs["subnetIds"] == ["variant-private-use1-az6-id", "variant-private-use1-az4-id"]
    assert inputs["preferredSubnetId"] == inputs["subnetIds"][0] and len(inputs["routeTableIds"]) == 2


def test_another_zone_or_share_renames_nothing(tmp_path: Path) -> None:
    more = (("zones: [use1-az4, use1-az6]", "zones: [use1-az2, use1-az4, use1-az6]"),)
    single = "cloud_shares: {files: {kind: efs, mount: /files}}"
    others = "cloud_shares: {a: {kind: efs, mount: /a}, files: {kind: efs, mount: /files}}"
    assert set(graph_of(tmp_path, stored(single)).nodes) < set(graph_of(tmp_path, stored(others), *more).nodes)


def test_file_systems_are_created_and_destroyed(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    environment_file.write_text(environment_file.read_text().replace(*stored(ALL)))
    before = left(cloud)
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    scratch = applied.outputs.file_systems["cloud_scratch"]
    fsx = client(cloud, "fsx")
    (system,) = fsx.describe_file_systems(FileSystemIds=[scratch.id])["FileSystems"]
    assert (system["Lifecycle"], system["StorageCapacity"]) == ("AVAILABLE", 4800)
    assert system["LustreConfiguration"]["MountName"] == scratch.mount_name
    (link,) = fsx.describe_data_repository_associations()["Associations"]
    assert link["DataRepositoryPath"] == f"s3://{applied.outputs.data_hub.buckets['internal'].name}"
    targets = client(cloud, "efs").describe_mount_targets(FileSystemId=applied.outputs.file_systems["files"].id)
    assert len(targets["MountTargets"]) == 2
    applied.destroy()
    assert left(cloud) == before
