"""Shared file systems: recorded graphs, and graphs applied to the emulated AWS."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.aws.storage import storage as facts
from landbridge.plan.outputs import StackOutputs
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.graph import Graph, GraphNode
from sandbox.pulumi_provider.recorder import apply
from sandbox.pulumi_provider.serialization import unknown_inside
from tests.graph.components.test_network_and_pools import wrong
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import PROTECTED, graph_of
from tests.graph.support.file_system_settings import ALL, LINKED, stored
from tests.graph.support.inventory import client, left

LUSTRE, LINK = (
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
)
OPENZFS, EFS = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "aws:efs/fileSystem:FileSystem"
KEY = "aws:kms/key:Key"
IN, OUT = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def one(graph: Graph, token: str) -> GraphNode:
    (node,) = graph.of_type(token)
    return node


def rules(graph: Graph, name: str) -> set[tuple[str, str, str, str, Any]]:
    """(direction, group, peer, protocol, first port) of every rule that a file system brought."""
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
def test_all_three_kinds_are_valid_and_say_how_to_mount_them(tmp_path: Path, preview: bool) -> None:
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
    found = StackOutputs.model_validate(graph.outputs).file_systems
    scratch, homes, files = found["cloud_scratch"], found["homes"], found["files"]
    assert (scratch.type, scratch.source) == ("lustre", f"{scratch.dns_name}@tcp:/{scratch.mount_name}")
    assert (homes.type, homes.source, homes.mount) == ("nfs4", f"{homes.dns_name}:/fsx", "/homes")
    assert (files.type, files.source, files.zones) == ("nfs4", f"{files.dns_name}:/", ("use1-az4", "use1-az6"))
    assert "nfsvers=4.1" in files.options and "hard" in files.options


def test_none_is_made_where_none_is_asked_for(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert "file_systems" not in graph.outputs
    assert [node.name for node in graph.nodes.values() if "fsx" in node.type or "efs" in node.type] == []


@pytest.mark.parametrize("on", [True, False])
def test_data_and_its_key_are_protected_and_left_standing(tmp_path: Path, on: bool) -> None:
    graph = graph_of(tmp_path, stored(ALL), *([PROTECTED] if on else []))
    systems = [one(graph, token) for token in (LUSTRE, OPENZFS, EFS)]
    keys = [node for node in graph.of_type(KEY) if node.name in {system.name for system in systems}]
    assert len(keys) == 3
    for node in (*systems, *keys):
        assert (node.protect, node.retain) == (on, on), node.name
    assert one(graph, OPENZFS).inputs["skipFinalBackup"] is not on
    assert one(graph, LUSTRE).inputs["skipFinalBackup"] is True, "with a bucket behind it Lustre has no backups"
    assert "automaticBackupRetentionDays" not in one(graph, LUSTRE).inputs
    assert one(graph, OPENZFS).inputs["automaticBackupRetentionDays"] == 7
    policy = one(graph, "aws:efs/backupPolicy:BackupPolicy").inputs["backupPolicy"]
    assert policy == {"status": "ENABLED"}


def test_each_is_encrypted_with_its_own_key(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    for token in (LUSTRE, OPENZFS, EFS):
        node = one(graph, token)
        assert node.inputs["kmsKeyId"] == f"arn:aws:test:us-east-1:123456789012:{node.name}"
    assert one(graph, EFS).inputs["encrypted"] is True


def test_scratch_has_no_key_of_its_own_and_no_backups(tmp_path: Path) -> None:
    scratch = "cloud_scratch: {kind: fsx_lustre, deployment: scratch_2, capacity_gib: 1200}"
    inputs = one(graph_of(tmp_path, stored(scratch), PROTECTED), LUSTRE).inputs
    assert inputs["skipFinalBackup"] is True and inputs["storageCapacity"] == 1200
    assert not {"kmsKeyId", "automaticBackupRetentionDays", "perUnitStorageThroughput"} & set(inputs)


def test_the_planned_ports_are_open_between_its_group_and_each_client_s(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    group, pool = "variant-cloud-scratch-id", "variant-p5-id"
    firsts = {own.first for own in facts().fsx_lustre.ports}
    assert firsts == {988, 1018}
    expected = {
        (direction, mine, theirs, "tcp", port)
        for port in firsts
        for direction in ("in", "out")
        for mine, theirs in ((group, group), (group, pool), (pool, group))
    }
    assert rules(graph, "variant-cloud-scratch") == expected
    # NFS only answers: the client may go out, the server lets in.
    group = "variant-share-files-id"
    assert rules(graph, "variant-share-files") == {("in", group, pool, "tcp", 2049), ("out", pool, group, "tcp", 2049)}


def test_efa_passes_between_the_groups_for_every_protocol(tmp_path: Path) -> None:
    efa = "cloud_scratch: {kind: fsx_lustre, efa: true, capacity_gib: 19200, throughput: 250}"
    graph = graph_of(tmp_path, stored(efa))
    inputs = one(graph, LUSTRE).inputs
    assert inputs["efaEnabled"] is True and inputs["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    found = rules(graph, "variant-cloud-scratch")
    assert {(rule[3], rule[4]) for rule in found} == {("-1", None)} and len(found) == 6


def test_what_grows_by_itself_has_a_throughput_and_no_size(tmp_path: Path) -> None:
    elastic = "cloud_scratch: {kind: fsx_lustre, storage_type: intelligent_tiering, throughput: 8000}"
    graph = graph_of(tmp_path, stored(elastic))
    inputs = one(graph, LUSTRE).inputs
    assert wrong(graph) == {} and "storageCapacity" not in inputs and "perUnitStorageThroughput" not in inputs
    assert inputs["throughputCapacity"] == 8000 and inputs["metadataConfiguration"]["iops"] == 6000


def test_a_folder_shows_the_hub_s_bucket_and_fsx_may_use_its_key(tmp_path: Path) -> None:
    own = "cloud_scratch: {kind: fsx_lustre, repositories: [{folder: /in/sets, bucket: 's3://theirs/a'}]}"
    linked, theirs = graph_of(tmp_path, stored(LINKED)), graph_of(tmp_path, stored(own))
    shown = one(linked, LINK).inputs
    assert shown["dataRepositoryPath"] == "s3://variant-internal-123456789012" and shown["fileSystemPath"] == "/data"
    assert set(shown["s3"]) == {"autoImportPolicy", "autoExportPolicy"} and shown["deleteDataInFilesystem"] is False
    assert one(theirs, LINK).name == "variant-cloud-scratch-in-sets"
    assert "autoExportPolicy" not in one(theirs, LINK).inputs["s3"]

    def sids(graph: Graph) -> dict[str, Any]:
        (policy,) = [n.inputs["policy"] for n in graph.of_type(KEY) if n.name == "variant-internal"]
        return {statement["Sid"]: statement for statement in json.loads(policy)["Statement"]}

    assert set(sids(theirs)) == {"DelegateToIam"}
    condition = sids(linked)["AllowFsxDataRepositories"]["Condition"]
    assert condition["StringEquals"]["kms:CallerAccount"] == "123456789012"
    assert "AWSServiceRoleForFSxS3Access_fs-*" in condition["ArnLike"]["aws:PrincipalArn"]


def test_a_second_zone_has_the_standby(tmp_path: Path) -> None:
    two = "cloud_shares: {homes: {kind: fsx_openzfs, deployment: multi_az_1, zone: use1-az6}}"
    graph = graph_of(tmp_path, stored(two))
    inputs = one(graph, OPENZFS).inputs
    assert inputs["subnetIds"] == ["variant-private-use1-az6-id", "variant-private-use1-az4-id"]
    assert inputs["preferredSubnetId"] == inputs["subnetIds"][0] and len(inputs["routeTableIds"]) == 2


def test_another_zone_or_share_renames_nothing(tmp_path: Path) -> None:
    more = (("zones: [use1-az4, use1-az6]", "zones: [use1-az2, use1-az4, use1-az6]"),)
    kept = "cloud_shares: {files: {kind: efs, mount: /files}}"
    others = "cloud_shares: {a: {kind: efs, mount: /a}, files: {kind: efs, mount: /files}}"
    assert set(graph_of(tmp_path, stored(kept)).nodes) < set(graph_of(tmp_path, stored(others), *more).nodes)


def test_they_are_made_and_taken_down(
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
