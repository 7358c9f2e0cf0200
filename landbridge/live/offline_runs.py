"""Upload of MLflow runs that were recorded without a tracking server, in the order of their starts, each one once.

A run of the target has the id of its source as a tag, by which a repeated upload finds it. An upload that was killed goes on:
parameters, tags and artifacts are written again, and MLflow keeps a metric of equal key, time, step and value once. Source
(2026-11-26): MLflow 3.17.2, REST API, runs/log-batch (limits of a request), and store/tracking/sqlalchemy_store.py, `_log_metrics`.
"""

import fcntl
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from landbridge.live.mlflow_client import answers, client_class, pages

SOURCE_TAG, COMPLETE_TAG, CLASS_TAG = "landbridge.offline_run", "landbridge.offline_complete", "landbridge.data_class"
#: Most metrics, and most parameters or tags, of one request.
METRICS, ENTRIES = 1000, 100
_UNFINISHED = ("RUNNING", "SCHEDULED")
T = TypeVar("T")


class UploadError(Exception):
    """Tracking server that did not answer, or refused; the message has the reason."""


@dataclass(frozen=True, slots=True)
class OfflineRun:
    """Recorded run: its id, experiment, data class (empty: not stated), status, and the time of its start (Unix ms)."""

    id: str
    experiment: str
    name: str
    data_class: str
    status: str
    started: int

    @property
    def has_ended(self) -> bool:
        """Return whether the run has ended: only then is it uploaded."""
        return self.status not in _UNFINISHED


def chunks(entries: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the entries in parts of `size` at most."""
    for start in range(0, len(entries), size):
        yield entries[start : start + size]


class OfflineRuns:
    """Runs of a local store, such as sqlite:///mlflow.db or a folder, and the server that gets them."""

    def __init__(self, source: str, target: str) -> None:
        # MLflow keeps folders for stores of earlier releases only.
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        client = client_class(UploadError)
        with answers(source, UploadError):
            self._source: Any = client(tracking_uri=source)
        self._target: Any = client(tracking_uri=target)
        self._uris = source, target

    def recorded(self) -> list[OfflineRun]:
        """Return the runs of the source, the first start first."""
        with answers(self._uris[0], UploadError):
            names = {each.experiment_id: each.name for each in pages(self._source.search_experiments)}
            listed = list(pages(self._source.search_runs, experiment_ids=list(names))) if names else []
        runs = (
            OfflineRun(
                each.info.run_id,
                names[each.info.experiment_id],
                each.info.run_name or "",
                each.data.tags.get(CLASS_TAG, ""),
                each.info.status,
                each.info.start_time or 0,
            )
            for each in listed
        )
        return sorted(runs, key=lambda run: (run.started, run.id))

    def upload(self, run: OfflineRun) -> str | None:
        """Upload a run; return its id at the server, or None if it was complete there already."""
        with answers(self._uris[0], UploadError):
            recorded = self._source.get_run(run.id)
            history = [
                metric
                for key in sorted(recorded.data.metrics)
                for metric in self._source.get_metric_history(run.id, key)
            ]
        with answers(self._uris[1], UploadError):
            present = self._present(run)
            if present is not None and COMPLETE_TAG in present.data.tags:
                return None
            created = present or self._create(run, recorded)
            identity = str(created.info.run_id)
            self._log(identity, recorded, history)
            self._artifacts(run, identity)
            self._target.set_terminated(identity, run.status, recorded.info.end_time)
            # Written last: a run without this tag is uploaded again.
            self._target.set_tag(identity, COMPLETE_TAG, "true")
        return identity

    def _present(self, run: OfflineRun) -> Any:
        experiment = self._target.get_experiment_by_name(run.experiment)
        if experiment is None:
            return None
        wanted = f"tags.`{SOURCE_TAG}` = '{run.id}'"
        return next(iter(self._target.search_runs([experiment.experiment_id], wanted, max_results=1)), None)

    def _create(self, run: OfflineRun, recorded: Any) -> Any:
        experiment = self._target.get_experiment_by_name(run.experiment)
        identity = experiment.experiment_id if experiment else self._target.create_experiment(run.experiment)
        # With the request that creates the run: there is no moment in which it has no source.
        tags = {SOURCE_TAG: run.id}
        return self._target.create_run(identity, recorded.info.start_time, tags, run_name=run.name or None)

    def _log(self, identity: str, recorded: Any, history: Sequence[Any]) -> None:
        from mlflow.entities import Param, RunTag

        params = [Param(key, value) for key, value in sorted(recorded.data.params.items())]
        tags = [RunTag(key, value) for key, value in sorted(recorded.data.tags.items())]
        for some_params in chunks(params, ENTRIES):
            self._target.log_batch(identity, params=some_params)
        for some_tags in chunks(tags, ENTRIES):
            self._target.log_batch(identity, tags=some_tags)
        for some_metrics in chunks(history, METRICS):
            self._target.log_batch(identity, metrics=some_metrics)

    def _artifacts(self, run: OfflineRun, identity: str) -> None:
        if not self._source.list_artifacts(run.id):
            return
        with TemporaryDirectory(prefix="landbridge-run-") as folder:
            local = self._source.download_artifacts(run.id, "", folder)
            self._target.log_artifacts(identity, local)


def refused(runs: Collection[OfflineRun], data_class: str | None, classes: Collection[str]) -> Mapping[str, str]:
    """Return the runs that may not be at a server with `classes`, with the reason. `data_class`: that of runs without one."""
    reasons = {}
    for run in runs:
        stated = run.data_class or data_class
        if stated is None:
            reasons[run.id] = f"it states no data class (tag {CLASS_TAG})"
        elif stated not in classes:
            reasons[run.id] = (
                f"its data class is {stated}, and the server is for {', '.join(sorted(classes)) or 'none'}"
            )
    return reasons


@contextmanager
def only_upload(folder: Path) -> Iterator[None]:
    """Hold the lock of uploads from a folder. Raises UploadError while another upload has it."""
    with (folder / ".landbridge-upload.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UploadError(f"another upload from {folder} is running") from None
        yield
