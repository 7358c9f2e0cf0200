"""MLflow client in a separate thread, so that a slow or broken connection never stalls a training step.

Calls are delivered in order; each is retried until it succeeds, MLflow rejects it, or `close` reaches its timeout.
Undelivered calls are reported.
"""

import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from http.client import BAD_REQUEST
from pathlib import Path

import checkpoints

# Before MLflow is imported: a job in a closed network must not send telemetry.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException

ARTIFACTS = "checkpoints"


class Tracker:
    """MLflow run: the existing run of this job if it was restarted, else a new one."""

    def __init__(self, experiment: str, name: str, tags: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._client = MlflowClient()
        self._say = say
        self.run_id = self._find_or_create(experiment, name, tags)
        self._calls: queue.Queue[tuple[str, Callable[[], object]] | None] = queue.Queue()
        self._give_up = threading.Event()
        self._thread = threading.Thread(target=self._deliver, name="mlflow", daemon=True)
        self._thread.start()

    def params(self, values: Mapping[str, object]) -> None:
        """Log parameters (a resumed run logs the same ones again, which MLflow accepts)."""
        entries = [Param(key, str(value)) for key, value in values.items()]
        self._put("parameters", lambda: self._client.log_batch(self.run_id, params=entries))

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Log the metrics of an epoch, with the time of this call, not of its delivery."""
        now = int(time.time() * 1000)
        entries = [Metric(key, float(value), now, step) for key, value in values.items()]
        self._put(f"metrics of epoch {step}", lambda: self._client.log_batch(self.run_id, metrics=entries))

    def tags(self, values: Mapping[str, str]) -> None:
        """Set tags on the run."""
        entries = [RunTag(key, value) for key, value in values.items()]
        self._put("tags", lambda: self._client.log_batch(self.run_id, tags=entries))

    def checkpoint(self, saved: checkpoints.Checkpoint) -> None:
        """Upload a checkpoint with its manifest last, so that an interrupted upload is not a checkpoint."""

        def upload() -> None:
            target = f"{ARTIFACTS}/{saved.path.name}"
            try:
                self._client.log_artifact(self.run_id, str(saved.path / checkpoints.STATE), target)
                self._client.log_artifact(self.run_id, str(saved.path / checkpoints.MANIFEST), target)
            except FileNotFoundError:
                # It was pruned while MLflow was unreachable; the queue has a newer one.
                self._say(f"{saved.path.name} was pruned before it could be uploaded")

        self._put(saved.path.name, upload)

    def newest_checkpoint(self) -> checkpoints.Checkpoint | None:
        """Return the newest complete checkpoint among the run's artifacts, downloaded and verified."""
        names = [Path(item.path).name for item in self._client.list_artifacts(self.run_id, ARTIFACTS) if item.is_dir]
        for name in sorted((n for n in names if checkpoints.epoch_of(n) is not None), reverse=True):
            parts = {Path(item.path).name for item in self._client.list_artifacts(self.run_id, f"{ARTIFACTS}/{name}")}
            if checkpoints.MANIFEST not in parts:
                continue
            folder = tempfile.mkdtemp(prefix="digits-resume-")
            local = self._client.download_artifacts(self.run_id, f"{ARTIFACTS}/{name}", folder)
            try:
                return checkpoints.verify(Path(local))
            except checkpoints.Damaged as damage:
                self._say(f"MLflow: {damage}")
        return None

    def close(self, status: str, timeout: float = 300.0) -> bool:
        """Deliver queued calls and end the run. Return False, after a message, if the timeout is reached."""
        self._put("end of run", lambda: self._client.set_terminated(self.run_id, status))
        self._calls.put(None)
        self._thread.join(timeout)
        if not self._thread.is_alive():
            return True
        self._give_up.set()
        self._say(f"MLflow: {self._calls.qsize()} calls could not be delivered within {timeout:.0f} s")
        return False

    def _find_or_create(self, experiment: str, name: str, tags: Mapping[str, str]) -> str:
        experiment_id = self._experiment(experiment)
        identity = f"tags.`landbridge.run` = '{tags['landbridge.run']}'"
        runs = self._client.search_runs([experiment_id], identity, max_results=1)
        if runs:
            run_id = str(runs[0].info.run_id)
            self._client.update_run(run_id, status="RUNNING")
            return run_id
        return str(self._client.create_run(experiment_id, run_name=name, tags=dict(tags)).info.run_id)

    def _experiment(self, name: str) -> str:
        """Return the experiment's id; create the experiment if needed, also if several jobs do so at the same time."""
        if experiment := self._client.get_experiment_by_name(name):
            return str(experiment.experiment_id)
        try:
            return str(self._client.create_experiment(name))
        except MlflowException as error:
            experiment = self._client.get_experiment_by_name(name)
            if error.error_code != "RESOURCE_ALREADY_EXISTS" or not experiment:
                raise
            return str(experiment.experiment_id)

    def _put(self, description: str, call: Callable[[], object]) -> None:
        self._calls.put((description, call))

    def _deliver(self) -> None:
        while (item := self._calls.get()) is not None:
            description, call = item
            for attempt in range(1, 1_000_000):
                try:
                    call()
                    break
                except Exception as error:  # noqa: BLE001 - a server can fail in any way; this retries
                    if isinstance(error, MlflowException) and error.get_http_status_code() == BAD_REQUEST:
                        # A retry would be rejected too, and later calls must not wait.
                        self._say(f"MLflow refuses {description}: {error}")
                        break
                    if attempt == 1:
                        self._say(f"MLflow: {description}: {type(error).__name__}: {error}; trying again")
                    if self._give_up.wait(min(2.0**attempt, 15.0)):
                        return
