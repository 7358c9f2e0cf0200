"""An MLflow tracking server on loopback for as long as the embedded demonstration runs."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.demo.report import DemoError
from sandbox.ports import free_port


@dataclass(frozen=True)
class TrackedRun:
    """One run of the MLflow server."""

    id: str
    status: str
    tags: dict[str, str]
    params: dict[str, str]
    metrics: dict[str, float]
    artifacts: tuple[str, ...]


class Tracking:
    """MLflow server that may still be starting: call `wait` before the first use."""

    def __init__(self, process: "subprocess.Popen[bytes]", uri: str, log: Path) -> None:
        self._process, self.uri, self._log = process, uri, log

    def wait(self, seconds: float = 600) -> None:
        """Wait until the server answers. Raise DemoError with the end of its log if it ended or is late."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                ended = self._process.poll() is not None
                if ended or time.monotonic() > deadline:
                    log_end = self._log.read_text(errors="replace")[-1500:]
                    state = "ended" if ended else f"did not answer within {seconds:.0f} s"
                    raise DemoError(f"the MLflow server {state}: {log_end}", f"its log: {self._log}") from None
            time.sleep(0.2)

    def runs(self, experiment: str) -> dict[str, TrackedRun]:
        """Return the experiment's runs by the id of their Slurm job."""
        from mlflow import MlflowClient

        client = MlflowClient(self.uri)
        recorded_experiment = client.get_experiment_by_name(experiment)
        if recorded_experiment is None:
            return {}
        return {
            run.tags.get("landbridge.job_id", ""): run
            for run in (
                _tracked(client, raw_run) for raw_run in client.search_runs([recorded_experiment.experiment_id])
            )
        }


def _tracked(client: Any, run: Any) -> TrackedRun:
    artifacts = tuple(item.path for item in client.list_artifacts(run.info.run_id, "checkpoints"))
    data = run.data
    return TrackedRun(
        run.info.run_id, run.info.status, dict(data.tags), dict(data.params), dict(data.metrics), artifacts
    )


@contextmanager
def serving(directory: Path) -> Iterator[Tracking]:
    """Run a server with SQLite and artifacts in `directory` during the block."""
    directory.mkdir(parents=True, exist_ok=True)
    port = free_port()
    log = directory / "server.log"
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += [
        "--backend-store-uri",
        f"sqlite:///{directory}/mlflow.db",
        "--artifacts-destination",
        str(directory / "artifacts"),
    ]
    with log.open("ab") as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=directory,
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
            start_new_session=True,
        )
    try:
        yield Tracking(process, f"http://127.0.0.1:{port}", log)
    finally:
        _end_group(process)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    # The server starts worker processes: signal the whole process group.
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signal_number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
