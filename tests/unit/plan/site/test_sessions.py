"""MLflow's credentials of sessions: nodes in AWS without the site's homes get them with the job."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.site.home_directories import session_variables
from tests.unit.core.samples import ROOT, environment

SCRIPT = ROOT / "ansible/roles/mlflow/files/landbridge-mlflow.sh"
NFS: dict[str, Any] = {"kind": "nfs", "export": "/export/home"}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({("storage", "home"): {**NFS, "on_cloud_nodes": False}}, True),
        ({("storage", "home"): {**NFS, "on_cloud_nodes": True}}, False),
        ({("storage", "home"): {**NFS, "on_cloud_nodes": False}, ("aws", "pools"): []}, False),
    ],
)
def test_sessions_have_credentials_where_nodes_in_aws_have_no_homes(changes: dict[Any, Any], wanted: bool) -> None:
    assert session_variables(environment(changes)) == {"mlflow_sessions_wanted": wanted}


def session(home: Path, **variables: str) -> list[str]:
    command = f'. {SCRIPT}; echo "${{MLFLOW_TRACKING_USERNAME-none}}"; echo "${{MLFLOW_TRACKING_PASSWORD-none}}"'
    known = {"HOME": str(home), "PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(["sh", "-euc", command], env=known, capture_output=True, text=True, check=True).stdout.split()


def test_a_session_reads_the_credentials_of_its_home(tmp_path: Path) -> None:
    assert session(tmp_path) == ["none", "none"]
    (tmp_path / ".mlflow").mkdir()
    lines = "[mlflow]\nmlflow_tracking_username = carol\nmlflow_tracking_password = a$b=c\n"
    (tmp_path / ".mlflow/credentials").write_text(lines)
    assert session(tmp_path) == ["carol", "a$b=c"]
    # A user's own password, of another server, stays.
    assert session(tmp_path, MLFLOW_TRACKING_USERNAME="x", MLFLOW_TRACKING_PASSWORD="y") == ["x", "y"]
