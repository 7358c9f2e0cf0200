"""Job that states data and results: the real daemon and mover with the emulated AWS. No instance runs before its data are
complete, nor for the copy of its results.
"""
# ruff: noqa: F811 - fixtures are imported

import contextlib
import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from landbridge.cli.main import main
from landbridge.datasets import DATASET_FILE
from landbridge.staging.exchange import read_results
from landbridge.staging.statement import HELD_PREFIX
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.demo.cluster import wait_for
from sandbox.embedded.slurm import SimulatedSlurm
from tests.unit.burst.service import (  # noqa: F401
    emulator,
    instances,
    records,
    slurm_folder,
    start,
    submit,
    wait_for_no_instances,
)
from tests.unit.live.datasets.conftest import ROOT
from tests.unit.live.staging.conftest import MoverHost, host, mover, source  # noqa: F401

DESCRIPTION = f"datasets/files/corpus/v1/{DATASET_FILE}"


def test_no_instance_runs_for_data_or_results(
    cloud: EmulatorProcess,
    start: Callable[..., SimulatedSlurm],
    mover: MoverHost,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mover.host.put(source, version="v1")
    exchange = mover.config.exchange
    slurm = start({"staging": {"exchange": str(exchange), "partitions": {"p5": ["aws"]}}})
    held = f"{HELD_PREFIX}waits for corpus:v1"
    job = submit(slurm, comment="data=corpus:v1 results=out", held=held, user="ada")
    slurm.wait_for(lambda: (exchange / "requests.json").exists(), "nothing was requested")
    calls = int(cloud.control()["calls"].get("s3:PUT", 0))
    cloud.control(faults={"s3:PUT": [{"times": 3}, {"hold": 3600, "cut": True}]})
    command = [sys.executable, "-m", "landbridge.live.staging.service", "--config", str(mover.config_file), "--once"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for("the held call", lambda: cloud.control()["held"], {"s3:PUT": 1}.__eq__)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    # A pass after the kill: the job is held, and nothing was launched.
    slurm.daemon.send_signal(signal.SIGKILL)
    slurm.daemon.wait()
    slurm.daemon = slurm.programs.daemon()
    assert job.held and job.state == "PENDING" and not instances(cloud)
    assert DESCRIPTION not in mover.host.keys("datasets/files/")
    assert int(cloud.control()["calls"]["s3:PUT"]) > calls
    monkeypatch.setenv("PATH", f"{slurm.directory}/bin", prepend=":")
    command_line = ["landbridge", "burst", "why", str(job.id), "--config", str(slurm.directory / "burst.json")]
    monkeypatch.setattr(sys, "argv", command_line)
    with contextlib.suppress(SystemExit):
        main()
    assert "data  corpus:v1 in AWS: is being copied;" in capsys.readouterr().out
    cloud.control(faults={})
    subprocess.run(command, cwd=ROOT, check=True)
    assert slurm.wait(job).state == "COMPLETED"
    (launched,) = records(slurm, "launched", job)
    lines = [json.loads(line) for line in mover.config.ledger.read_text().splitlines()]
    (end,) = [line for line in lines if line["event"] == "end"]
    assert datetime.fromisoformat(end["time"]).timestamp() <= launched.at
    texts = [record.text for record in records(slurm, "data", job)]
    in_place = "landbridge: data in place: /fsx/internal/datasets/files/corpus/v1"
    assert texts == [f"{held} in AWS", in_place] and job.admin_comment == in_place
    # As the job does, before its end.
    mover.host.operator.put(f"results/sandbox-{job.id}/out/model", b"model", hashlib.sha256(b"model").hexdigest())
    wait_for_no_instances(slurm, cloud)
    slurm.wait_for(lambda: read_results(exchange)[f"sandbox-{job.id}"].ended is not None, "the end was not recorded")
    subprocess.run(command, cwd=ROOT, check=True)
    at_site = mover.config.folder / f"internal/_results/ada/{job.id}/model"
    assert at_site.read_bytes() == b"model"
    begin = json.loads(mover.config.ledger.read_text().splitlines()[-2])
    assert begin["run"] == f"sandbox-{job.id}" and begin["ended"] >= job.ended
    slurm.wait_for(lambda: read_results(exchange) == {}, "the request is still there")
    assert not instances(cloud)
