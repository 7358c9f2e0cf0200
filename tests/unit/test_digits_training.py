"""Training example with two real processes on loopback and MLflow on SQLite: killed, damaged, resumed."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.ports import free_port

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


class Run:
    """Two processes of one run, each with its log."""

    def __init__(self, folder: Path, tag: str, *options: str) -> None:
        self.logs = [folder / f"{tag}-{rank}.log" for rank in range(2)]
        coordinator = f"127.0.0.1:{free_port()}"
        self.processes = []
        for rank, log in enumerate(self.logs):
            environ = {
                **{k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "LANDBRIDGE_", "MLFLOW_"))},
                "LANDBRIDGE_PROCESS_COUNT": "2",
                "LANDBRIDGE_PROCESS_ID": str(rank),
                "LANDBRIDGE_COORDINATOR": coordinator,
                "LANDBRIDGE_SITE": "onprem",
                "LANDBRIDGE_JOB_ID": "42",
                "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
                "JAX_PLATFORMS": "cpu",
            }
            command = [
                sys.executable,
                str(DIGITS / "train.py"),
                "--run-name",
                "test",
                "--checkpoint-every",
                "1",
                *options,
            ]
            with log.open("wb") as stream:
                self.processes.append(
                    subprocess.Popen(command, cwd=folder, env=environ, stdout=stream, stderr=subprocess.STDOUT)
                )

    def wait_for(self, text: str, timeout: float = 600) -> None:
        deadline = time.monotonic() + timeout
        while text not in self.logs[0].read_text():
            assert time.monotonic() < deadline and self.processes[0].poll() is None, self.logs[0].read_text()
            time.sleep(0.1)

    def wait(self, timeout: float = 600) -> list[int]:
        return [process.wait(timeout) for process in self.processes]

    def log(self) -> str:
        return self.logs[0].read_text()

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("digits")


@pytest.fixture(scope="module")
def start(folder: Path):
    runs: list[Run] = []

    def begin(tag: str, *options: str) -> Run:
        runs.append(Run(folder, tag, *options))
        return runs[-1]

    yield begin
    for run in runs:
        run.end()


def losses(log: str) -> dict[int, str]:
    return {int(epoch): loss for epoch, loss in re.findall(r"epoch (\d+)/\d+ loss=(\S+)", log)}


def tracked(folder: Path) -> list:
    """Return MLflow's record of the run."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiment = client.get_experiment_by_name("digits")
    return client.search_runs([experiment.experiment_id], "tags.`landbridge.run` = 'test'")


@dataclass(frozen=True)
class Finished:
    """A run in three jobs: killed, stopped with a damaged checkpoint, and resumed after the loss of its disk."""

    killed: Run
    stopped: Run
    resumed: Run
    damaged: str
    statuses: list[list[int]]


@pytest.fixture(scope="module")
def finished(folder: Path, start) -> Finished:
    # Killed without warning after the second epoch.
    killed = start("killed", "--epochs", "6", "--seconds-per-epoch-floor", "1")
    killed.wait_for("epoch 2/6")
    killed.wait_for("epoch 3/6")
    for process in killed.processes:
        process.kill()
    killed.wait()

    # The newest checkpoint is damaged on disk: the next run must report it and use an older one. Then rank 1 alone
    # receives SIGTERM, as when one node is stopped.
    root = folder / "checkpoints" / "test"
    newest = max(root.iterdir())
    (newest / "state.npz").write_bytes(b"not an array")

    stopped = start("stopped", "--epochs", "6", "--seconds-per-epoch-floor", "1")
    stopped.wait_for("resuming after epoch")
    stopped.wait_for("loss=")
    stopped.processes[1].send_signal(signal.SIGTERM)
    statuses = [stopped.wait()]

    # The disk is lost: the run continues from MLflow's artifacts.
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    resumed = start("resumed", "--epochs", "6")
    return Finished(killed, stopped, resumed, newest.name, [*statuses, resumed.wait()])


def test_killed_then_stopped_then_done_gives_what_an_uninterrupted_run_gives(
    folder: Path, start, finished: Finished
) -> None:
    from mlflow import MlflowClient

    killed, stopped, resumed = finished.killed.log(), finished.stopped.log(), finished.resumed.log()
    assert finished.statuses == [[143, 143], [0, 0]], stopped + resumed
    assert "passed over" in stopped and finished.damaged in stopped
    assert "digits-resume-" in resumed

    whole = start("whole", "--epochs", "6", "--run-name", "whole")
    assert whole.wait() == [0, 0], whole.log()
    combined = {**losses(killed), **losses(stopped), **losses(resumed)}
    assert combined == losses(whole.log()) and sorted(combined) == [1, 2, 3, 4, 5, 6]

    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    runs = tracked(folder)
    assert len(runs) == 1
    data = runs[0].data
    assert runs[0].info.status == "FINISHED"
    assert data.tags["landbridge.site"] == "onprem" and data.tags["landbridge.job_id"] == "42"
    assert 0 < float(data.tags["landbridge.first_step"]) - runs[0].info.start_time / 1000 < 3600
    assert len(data.tags["landbridge.hostnames"].split(",")) == 2
    assert data.params["hidden"] == "64" and data.metrics["test_accuracy"] > 0.8
    names = {Path(item.path).name for item in client.list_artifacts(runs[0].info.run_id, "checkpoints")}
    assert "epoch-000006" in names


def test_a_failed_process_ends_without_waiting_for_the_others(folder: Path, start, finished: Finished) -> None:
    # Only the first process reads checkpoints: the other one waits for the epoch from which to continue.
    other = start("large", "--epochs", "7", "--hidden", "32")
    assert 0 not in other.wait(), other.log()
    assert "the checkpoint is of another network" in other.log()
    # MLflow refuses to change a run's parameters; everything else must be recorded nevertheless.
    assert "MLflow refuses parameters" in other.log()
    assert [run.info.status for run in tracked(folder)] == ["FAILED"]
