"""Pipelines of the demonstration: the product's pass over the owner's folder."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

from landbridge.datasets import DATASET_FILE
from landbridge.pipelines.reconcile.view import Measurement
from landbridge.pipelines.runs.record import RunRecord
from landbridge.pipelines.runs.request import PipelineSource
from landbridge.pipelines.service import queue
from landbridge.pipelines.service.config import PipelinesConfig
from landbridge.pipelines.service.passes import PipelinePass
from landbridge.pipelines.service.ports import PipelineSlurm
from landbridge.pipelines.service.store import RunStore
from sandbox.demo.report import DemoError
from sandbox.model_life.digits import DATASET

PASS_SECONDS = 0.5
#: Time without a change after which a wait fails.
_PROGRESS_SECONDS = 300.0


@dataclass(frozen=True)
class OwnerFolder:
    """Folder of the only owner, read and written by this process: this demonstration has no other users."""

    home: Path
    config: PipelinesConfig
    measured: Callable[[RunRecord, str], Measurement]

    def read(self, owner: str) -> dict[str, Any]:
        datasets = {name: str(path) for name, path in self.config.datasets.items()}
        # No trigger of the demonstration names a model.
        return {**queue.read_folder(self.home, datasets), "models": {}}

    def request(self, owner: str, name: str, data: Mapping[str, Any]) -> None:
        queue.write_json(self.home / queue.FOLDER / queue.REQUESTS / f"{name}.json", data)

    def prepare(self, record: RunRecord) -> None:
        queue.prepare(self.home, record.name, record.to_json())

    def finish(self, record: RunRecord) -> None:
        queue.finish(self.home, record.name, record.to_json())

    def discard(self, owner: str, name: str) -> None:
        queue.discard(self.home, name)

    def refuse(self, owner: str, name: str, reason: str) -> None:
        queue.refuse(self.home, name, reason)

    def measure(self, record: RunRecord, step: str) -> Measurement:
        return self.measured(record, step)


@dataclass
class PipelineSite:
    """Service of pipelines with one owner. Its passes run in a thread from `running`."""

    folder: Path
    owner: str
    account: str
    data_class: str
    log: list[str] = field(default_factory=list)

    @property
    def config(self) -> PipelinesConfig:
        """Return the settings of the service."""
        return PipelinesConfig(
            {self.account: self.data_class},
            (self.owner,),
            420.0,
            60,
            (),
            datasets={self.data_class: self.folder / "datasets"},
        )

    @property
    def home(self) -> Path:
        """Return the owner's home."""
        return self.folder / "home"

    def add_version(self, version: str) -> None:
        """Add a version of the dataset."""
        folder = self.folder / "datasets" / DATASET / version
        folder.mkdir(parents=True)
        queue.write_json(folder / DATASET_FILE, {"name": DATASET, "version": version})

    def register(self, name: str, steps: list[dict[str, Any]], scripts: Mapping[str, str], triggers: list[Any]) -> None:
        """Register a pipeline as `landbridge pipeline run --on-triggers` does."""
        definition = {
            "name": name,
            "owner": self.owner,
            "account": self.account,
            "data_class": self.data_class,
            "budget_usd": 50,
            "triggers": triggers,
            "steps": steps,
        }
        data = {"definition": definition, "folder": str(self.home), "scripts": dict(scripts)}
        source = PipelineSource.parse(data)
        registered = {**source.to_json(), "registered": time.time(), "datasets": [DATASET]}
        queue.write_json(self.home / queue.FOLDER / queue.DEFINITIONS / f"{name}.json", registered)

    def record_drift(self, service: str, event: Mapping[str, Any]) -> None:
        """Write a drift record where the service reads it."""
        queue.write_json(self.home / queue.FOLDER / queue.DRIFTS / f"{service}.json", event)

    def runs(self) -> dict[str, RunRecord]:
        """Return the live and the ended runs."""
        records = {}
        for kind in (queue.RECORDS, queue.ENDED):
            for name in queue.names_in(self.home / queue.FOLDER / kind):
                data = json.loads((self.home / queue.FOLDER / kind / f"{name}.json").read_text())
                records[name] = RunRecord.parse(data)
        return records

    def ended(self, trigger: str, key: str = "") -> RunRecord:
        """Wait for the end of the run of a trigger. Raises DemoError if it has failed, or if nothing changes any more."""
        state, deadline = "", time.monotonic() + _PROGRESS_SECONDS
        while time.monotonic() < deadline:
            for record in self.runs().values():
                if record.request.trigger == trigger and key in record.request.key and record.ended is not None:
                    if record.outcome != "succeeded":
                        raise DemoError(f"the run by {trigger} {key} is {record.outcome}: {record.reason}")
                    return record
            now = repr(self.runs()) + "".join(self.log)
            if now != state:
                state, deadline = now, time.monotonic() + _PROGRESS_SECONDS
            time.sleep(PASS_SECONDS)
        raise DemoError(f"the run by {trigger} {key} does not end: {self.log[-5:]}")

    @contextmanager
    def running(self, slurm: PipelineSlurm, folders: OwnerFolder) -> Iterator[None]:
        """Make passes until the end of the block."""
        one_pass = PipelinePass(self.config, RunStore(self.folder / "state"), folders, slurm, self.log.append)
        ending = Event()

        def work() -> None:
            while not ending.wait(PASS_SECONDS):
                one_pass.run()

        thread = Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()
