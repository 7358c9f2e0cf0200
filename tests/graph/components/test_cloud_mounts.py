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


def told(graph: Graph) -> dict[str, Any]:
    """The pool's file of the only pool."""
    (node,) = graph.of_type(TEMPLATE)
    lines = base64.b64decode(node.inputs["userData"]).decode().splitlines()
    (written,) = json.loads(lines[1])["write_files"]
    assert (lines[0], written["path"]) == ("#cloud-config", POOL_FILE)
    return dict(json.loads(written["content"]))


def test_nodes_mount_every_file_system_by_what_aws_called_it(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, stored(ALL))
    built = graph.outputs["file_systems"]
    mounts = told(graph)["mounts"]
    assert [one["mount"] for one in mounts] == ["/scratch", "/homes", "/files"]
    for one, name in zip(mounts, ("cloud_scratch", "homes", "files"), strict=True):
        assert (one["source"], one["type"]) == (built[name]["source"], built[name]["type"])
        assert one["options"] == built[name]["options"] + ",nosuid,nodev"


def test_a_preview_does_not_know_them_yet(tmp_path: Path) -> None:
    (node,) = graph_of(tmp_path, stored(ALL), preview=True).of_type(TEMPLATE)
    assert unknown_inside(node.inputs["userData"])


def test_without_file_systems_a_preview_knows_everything(tmp_path: Path) -> None:
    assert told(graph_of(tmp_path, preview=True))["mounts"] == []
