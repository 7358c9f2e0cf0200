"""The job program as a module, with the settings of a stand-in of a node."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.roles.jobs.job_node import Node
from tests.roles.jobs.program_module import ROLES, loaded

PATH = ROLES / "slurm_controller/files/landbridge-job"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return loaded(PATH, "landbridge_job")


@pytest.fixture
def node(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.setattr(module, "SETTINGS", str(tmp_path / "job.json"))
    monkeypatch.setattr(module, "FAILED", str(tmp_path / "run/job.failed"))
    monkeypatch.setattr(module, "CLASSES", str(tmp_path / "slurm.conf"))
    monkeypatch.setattr(module, "AUTHORITY", str(tmp_path / "tls/ca.pem"))
    monkeypatch.setattr(module, "SEARCHED", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("PATH", "")
    return Node(module, tmp_path)
