"""The job program registers a job's account for credentials in the prolog, and ends it in the epilog."""

import json
import os
import stat
from pathlib import Path
from types import ModuleType

import pytest

from tests.roles.jobs.job_node import RECORDED
from tests.roles.jobs.program_module import ROLES, loaded


@pytest.fixture
def job_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = loaded(ROLES / "slurm_controller/files/landbridge-job", "landbridge_job")
    places = {"url": "http://127.0.0.1:8169", "region": "us-east-1", "endpoint": ""}
    settings = {"root": str(tmp_path / "jobs"), "aws": places, "gpus": str(tmp_path / "gpus")}
    (tmp_path / "job.json").write_text(json.dumps(settings))
    monkeypatch.setattr(module, "SETTINGS", str(tmp_path / "job.json"))
    monkeypatch.setattr(module, "FAILED", str(tmp_path / "job.failed"))
    monkeypatch.setattr(module, "RECORDS", str(tmp_path / "run/records"))
    monkeypatch.setattr(module, "SEARCHED", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("PATH", os.environ["PATH"])
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    return module


def run(module: ModuleType, context: str, account: str | None = "vision") -> int:
    variables = {
        "SLURM_JOB_GPUS": "",
        "SLURM_JOB_USER": "alice",
        **({} if account is None else {"SLURM_JOB_ACCOUNT": account}),
    }
    return int(module.main({**RECORDED, **variables, "SLURM_SCRIPT_CONTEXT": context}))


def test_the_prolog_registers_the_account_and_the_epilog_ends_it(
    job_program: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(job_program, "prolog_slurmd") == 0
    path = tmp_path / "run/records/7.json"
    record = json.loads(path.read_text())
    assert (record["job"], record["user"], record["account"]) == ("7", "alice", "vision")
    assert [stat.S_IMODE(entry.stat().st_mode) for entry in (path, path.parent)] == [0o600, 0o700]
    assert run(job_program, "prolog_task") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "export AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:8169/v1/jobs/7" in lines
    assert f"export AWS_CONTAINER_AUTHORIZATION_TOKEN={record['token']}" in lines
    assert "export AWS_EC2_METADATA_DISABLED=true" in lines and "export AWS_REGION=us-east-1" in lines
    assert not [line for line in lines if "AWS_ENDPOINT_URL" in line]
    assert stat.S_IMODE((tmp_path / "jobs/7/.credentials-token").stat().st_mode) == 0o600
    assert run(job_program, "epilog_slurmd") == 0
    assert not path.exists()


def test_a_requeued_job_has_a_new_token(job_program: ModuleType, tmp_path: Path) -> None:
    path, tokens = tmp_path / "run/records/7.json", set()
    for _ in range(2):
        assert run(job_program, "prolog_slurmd") == 0
        tokens.add(json.loads(path.read_text())["token"])
    assert len(tokens) == 2


def test_the_account_may_be_unknown_but_comes_from_slurm_alone(job_program: ModuleType, tmp_path: Path) -> None:
    assert run(job_program, "prolog_slurmd", account=None) == 0
    assert json.loads((tmp_path / "run/records/7.json").read_text())["account"] == ""


def test_without_the_endpoint_a_job_gets_no_variables(
    job_program: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.json").write_text(json.dumps({"root": str(tmp_path / "jobs"), "gpus": str(tmp_path / "gpus")}))
    assert run(job_program, "prolog_slurmd") == run(job_program, "prolog_task") == 0
    assert "AWS_" not in capsys.readouterr().out and not (tmp_path / "run/records").exists()
