"""User data of launch templates: disks and file systems to mount."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.aws.pool import POOL_FILE
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.serialization import unknown_inside
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import graph_of
from tests.graph.support.file_system_settings import ALL, stored

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def pool_settings(graph: Graph) -> dict[str, Any]:
    """Return the content of the pool file of the only pool."""
    (node,) = graph.of_type(TEMPLATE)
    lines = base64.b64decode(node.inputs["userData"]).decode().splitlines()
    (written,) = json.loads(lines[1])["write_files"]
    assert (lines[0], written["path"]) == ("#cloud-config", POOL_FILE)
    return dict(json.loads(written["content"]))


def test_nodes_mount_every_file_system_by_its_name_in_aws(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    built = graph.outputs["file_systems"]
    mounts = pool_settings(graph)["mounts"]
    assert [mount["mount"] for mount in mounts] == ["/scratch", "/homes", "/files"]
    for mount, name in zip(mounts, ("cloud_scratch", "homes", "files"), strict=True):
        assert (mount["source"], mount["type"]) == (built[name]["source"], built[name]["type"])
        assert mount["options"] == built[name]["options"] + ",nosuid,nodev"


def test_nodes_with_efa_use_it_for_lustre(tmp_path: Path) -> None:
    with_efa = "cloud_scratch: {kind: fsx_lustre, efa: true, capacity_gib: 19200, zone: use1-az4}"
    pool = pool_settings(graph_of(tmp_path, stored(with_efa)))
    # AWS's setup configures eight interfaces of a p5.48xlarge. The mount's source has the servers' TCP addresses for EFA too.
    assert pool["lustre_efa"] == 8 and "@tcp:/" in pool["mounts"][0]["source"]
    assert "lustre_efa" not in pool_settings(graph_of(tmp_path, stored(with_efa.replace("efa: true, ", ""))))
    without = ("          suspend_after: 20\n", "          suspend_after: 20\n          efa: false\n")
    assert "lustre_efa" not in pool_settings(graph_of(tmp_path, stored(with_efa), without))


def test_a_preview_does_not_know_the_user_data(tmp_path: Path) -> None:
    (node,) = graph_of(tmp_path, stored(ALL), preview=True).of_type(TEMPLATE)
    assert unknown_inside(node.inputs["userData"])


def test_without_file_systems_a_preview_knows_everything(tmp_path: Path) -> None:
    assert pool_settings(graph_of(tmp_path, preview=True))["mounts"] == []
