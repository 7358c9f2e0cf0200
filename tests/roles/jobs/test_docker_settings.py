"""Docker's settings for CDI devices: the site's own settings stay."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MODULE = Path(__file__).parents[3] / "ansible/roles/nvidia_container_toolkit/library/docker_settings.py"


def run(path: Path, check: bool = False) -> dict[str, Any]:
    """Run the module as Ansible does."""
    data = json.dumps({"ANSIBLE_MODULE_ARGS": {"path": str(path), "_ansible_check_mode": check}})
    completed = subprocess.run(
        [sys.executable, str(MODULE)],
        input=data,
        capture_output=True,
        text=True,
        env={**os.environ},
        check=False,
    )
    return dict(json.loads(completed.stdout))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"features": {"cdi": True}}),
        (
            {"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}},
            {"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}, "features": {"cdi": True}},
        ),
        (
            {"default-runtime": "crun", "features": {"containerd-snapshotter": True}, "mtu": 9000},
            {"default-runtime": "crun", "features": {"containerd-snapshotter": True, "cdi": True}, "mtu": 9000},
        ),
    ],
    ids=["nothing yet", "NVIDIA's runtime by default", "a site's own"],
)
def test_cdi_is_enabled_and_nvidias_runtime_is_not_the_default(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any]
) -> None:
    path = tmp_path / "daemon.json"
    path.write_text(json.dumps(before))
    assert run(path, check=True)["changed"] is True
    assert json.loads(path.read_text()) == before
    assert run(path)["changed"] is True
    assert json.loads(path.read_text()) == after
    assert run(path)["changed"] is False


def test_a_file_that_is_no_json_is_not_changed_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text("{,}")
    assert "is not JSON" in run(path)["msg"]
    assert path.read_text() == "{,}"
