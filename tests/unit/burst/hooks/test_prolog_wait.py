"""PrologSlurmctld without the daemon: it asks nothing of Slurm, and refuses what it cannot prove to be permitted."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config.config import parse
from landbridge.burst.hooks.prolog_alone import reject
from landbridge.burst.hooks.prolog_wait import ASKED, MAX_QUESTIONS
from landbridge.burst.journal.store import Store
from landbridge.burst.model import State
from tests.unit.burst import launches

ROOT = Path(__file__).parents[4]
RECORDING = '#!/bin/sh\necho "$0 $*" >> {folder}/asked\n'


def run(
    folder: Path, nodes: str | None, account: str, config: Path, question_count: int = MAX_QUESTIONS
) -> tuple[int, str]:
    """Return exit status and messages of the program after `question_count` questions; it must not ask Slurm."""
    for name in ("sinfo", "squeue", "scontrol"):
        (folder / name).write_text(RECORDING.format(folder=folder))
        (folder / name).chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "LANDBRIDGE_BURST_CONFIG": str(config),
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_ACCOUNT": account,
        ASKED: str(question_count),
        **({"SLURM_JOB_NODELIST": nodes} if nodes else {}),
    }
    command = [sys.executable, "-m", "landbridge.burst.hooks.prolog_wait"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not (folder / "asked").exists(), (folder / "asked").read_text()
    return done.returncode, done.stderr


@pytest.fixture
def config(tmp_path: Path, burst: dict[str, Any]) -> Path:
    path = tmp_path / "burst.json"
    path.write_text(json.dumps({**burst, "state_dir": str(tmp_path), "socket": str(tmp_path / "burst.sock")}))
    return path


@pytest.mark.parametrize(
    ("nodes", "account", "status", "words"),
    [
        ("p5-[1-2]", "vision", 0, ""),
        ("dgx[01-04]", "patients", 0, ""),
        ("p5-[1-2]", "patients", 1, "data of account patients"),
        ("dgx01,p5-3", "unknown", 1, "not one of those"),
        ("p5-[1-", "vision", 1, "host list"),
    ],
)
def test_without_a_daemon_only_jobs_that_may_be_in_aws_start_there(
    tmp_path: Path, config: Path, nodes: str, account: str, status: int, words: str
) -> None:
    code, errors = run(tmp_path, nodes, account, config)
    assert (code, words in errors, "Traceback" in errors) == (status, True, False), errors


def test_an_unreadable_configuration_refuses_every_job_on_nodes_in_aws(tmp_path: Path, config: Path) -> None:
    config.write_text("{")
    code, errors = run(tmp_path, "p5-[1-2]", "vision", config)
    assert code == 1 and "burst.json" in errors
    code, errors = run(tmp_path, "p5-[1-2]", "vision", tmp_path / "none.json")
    assert code == 1 and "none.json" in errors


def test_a_job_without_nodes_does_not_wait(tmp_path: Path, config: Path) -> None:
    code, errors = run(tmp_path, None, "vision", config)
    assert code == 0 and "SLURM_JOB_NODELIST" in errors


def test_a_socket_without_a_daemon_is_no_answer(tmp_path: Path, config: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left_over:
        left_over.bind(str(tmp_path / "burst-prolog.sock"))
    assert run(tmp_path, "p5-1", "vision", config, question_count=0)[0] == 0
    code, errors = run(tmp_path, "p5-1", "patients", config, question_count=MAX_QUESTIONS - 1)
    assert code == 1 and errors.count("data of account patients") == 1


def test_the_journal_decides_about_regions_and_an_unreadable_one_refuses(
    tmp_path: Path, config: Path, burst: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    burst["pools"]["p5"]["offerings"][1]["region"] = "us-east-2"
    burst["accounts"]["vision"]["regions"] = ["us-east-2"]
    burst["accounts"]["other"] = {"data_class": "internal-2", "aws": True}
    config.write_text(json.dumps({**burst, "state_dir": str(tmp_path)}))
    monkeypatch.setenv("LANDBRIDGE_BURST_CONFIG", str(config))
    assert "region of p5-1 is not known" in (reject("p5-1", "other") or "")
    assert reject("p5-1", "vision") is None and reject("dgx01", "other") is None
    database = parse({**burst, "state_dir": str(tmp_path)}).database
    store, keys = Store(database), [entry["key"] for entry in burst["pools"]["p5"]["offerings"]]
    away = launches.attempt("p5-1", token="lb-1", offering=keys[1], ended=1.0, instances={"p5-1": "i-1"})
    home = replace(away, token="lb-2", offering=keys[0], nodes=("p5-2",), instances={"p5-2": "i-2"})
    store.save(State(), State(attempts={"lb-1": away, "lb-2": home}))
    store.close()
    assert reject("p5-1", "other") == "data of account other (internal-2) may not be in us-east-2"
    assert reject("p5-2", "other") is None
    for file in tmp_path.glob("burst.db*"):
        file.unlink()
    database.mkdir()
    assert "cannot be read" in (reject("p5-2", "other") or "")
    assert reject("p5-2", "vision") is None
