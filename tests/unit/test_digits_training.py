"""Training example with two real processes on loopback and MLflow on SQLite: killed, damaged, resumed."""

import os
import re
import signal
import subprocess
import sys
import time
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


@pytest.fixture
def start(tmp_path: Path):
    runs: list[Run] = []

    def begin(tag: str, *options: str) -> Run:
        runs.append(Run(tmp_path, tag, *options))
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


def test_killed_then_stopped_then_done_gives_what_an_uninterrupted_run_gives(tmp_path: Path, start) -> None:
    from mlflow import MlflowClient

    # Killed without warning after the second epoch.
    first = start("killed", "--epochs", "6", "--seconds-per-epoch-floor", "1")
    first.wait_for("epoch 2/6")
    first.wait_for("epoch 3/6")
    for process in first.processes:
        process.kill()
    first.wait()

    # The newest checkpoint is damaged on disk: the next run must report it and use an older one. Then rank 1 alone
    # receives SIGTERM, as when one node is stopped.
    root = tmp_path / "checkpoints" / "test"
    newest = max(root.iterdir())
    (newest / "state.npz").write_bytes(b"not an array")

    second = start("stopped", "--epochs", "6", "--seconds-per-epoch-floor", "1")
    second.wait_for("resuming after epoch")
    second.wait_for("loss=")
    second.processes[1].send_signal(signal.SIGTERM)
    assert second.wait() == [143, 143], second.log()
    assert "passed over" in second.log() and newest.name in second.log()

    # The disk is lost: the run continues from MLflow's artifacts.
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    third = start("resumed", "--epochs", "6")
    assert third.wait() == [0, 0], third.log()
    assert "digits-resume-" in third.log()

    whole = start("whole", "--epochs", "6", "--run-name", "whole")
    assert whole.wait() == [0, 0], whole.log()
    combined = {**losses(first.log()), **losses(second.log()), **losses(third.log())}
    assert combined == losses(whole.log()) and sorted(combined) == [1, 2, 3, 4, 5, 6]

    client = MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    runs = tracked(tmp_path)
    assert len(runs) == 1
    data = runs[0].data
    assert runs[0].info.status == "FINISHED"
    assert data.tags["landbridge.site"] == "onprem" and data.tags["landbridge.job_id"] == "42"
    assert len(data.tags["landbridge.hostnames"].split(",")) == 2
    assert data.params["hidden"] == "64" and data.metrics["test_accuracy"] > 0.8
    names = {Path(item.path).name for item in client.list_artifacts(runs[0].info.run_id, "checkpoints")}
    assert "epoch-000006" in names


def test_a_failed_process_ends_without_waiting_for_the_others(tmp_path: Path, start) -> None:
    first = start("small", "--epochs", "1")
    assert first.wait() == [0, 0], first.log()
    # Only the first process reads checkpoints: the other one waits for the epoch from which to continue.
    other = start("large", "--epochs", "2", "--hidden", "32")
    assert 0 not in other.wait(), other.log()
    assert "the checkpoint is of another network" in other.log()
    # MLflow refuses to change a run's parameters; everything else must be recorded nevertheless.
    assert "MLflow refuses parameters" in other.log()
    assert [run.info.status for run in tracked(tmp_path)] == ["FAILED"]
