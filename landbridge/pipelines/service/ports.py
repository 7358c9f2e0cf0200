"""Ports of a pass: the folders of owners, Slurm, and the journal."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from landbridge.pipelines.reconcile.view import JobView, Measurement, SubmitOutcome
from landbridge.pipelines.runs.record import RunRecord


class PortError(Exception):
    """Port that did not answer; the message has the reason. The next pass tries again."""


class OwnerFolders(Protocol):
    """Folders of owners. Each call runs with the rights of the owner. All raise PortError."""

    def read(self, owner: str) -> dict[str, Any]: ...

    def request(self, owner: str, name: str, data: Mapping[str, Any]) -> None: ...

    def prepare(self, record: RunRecord) -> None: ...

    def finish(self, record: RunRecord) -> None: ...

    def discard(self, owner: str, name: str) -> None: ...

    def refuse(self, owner: str, name: str, reason: str) -> None: ...

    def measure(self, record: RunRecord, step: str) -> Measurement: ...


class PipelineSlurm(Protocol):
    """Slurm. `view` and `cancel` raise PortError."""

    def view(self, names: Collection[str], since: float) -> JobView: ...

    def submit(self, record: RunRecord, step: str) -> SubmitOutcome: ...

    def cancel(self, record: RunRecord, job: int) -> None: ...


class RunJournal(Protocol):
    """Journal of live runs and of the names of ended ones. All raise OSError."""

    def load(self) -> dict[str, RunRecord]: ...

    def save(self, record: RunRecord) -> None: ...

    def remove(self, name: str) -> None: ...

    def remember(self, owner: str, runs: Mapping[str, float]) -> dict[str, float]: ...
