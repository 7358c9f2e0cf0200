"""Ports of a pass on a host: owners' folders through child processes, and Slurm's commands."""

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from landbridge.pipelines.reconcile.gates import metrics_of
from landbridge.pipelines.reconcile.triggers import model_of
from landbridge.pipelines.reconcile.view import JobView, Measurement, SubmitOutcome, merged_jobs
from landbridge.pipelines.runs.names import job_name
from landbridge.pipelines.runs.record import RunRecord
from landbridge.pipelines.service import queue, slurm
from landbridge.pipelines.service.config import PipelinesConfig
from landbridge.pipelines.service.owners import OwnerAccount, OwnerError, account_of, call_as
from landbridge.pipelines.service.ports import PortError
from landbridge.pipelines.service.registry import read_models


class HostFolders:
    """Folders of owners on this host."""

    def __init__(self, config: PipelinesConfig) -> None:
        self._config = config

    def read(self, owner: str) -> dict[str, Any]:
        datasets = {name: str(folder) for name, folder in self._config.datasets.items()}

        def read(home: Path) -> dict[str, Any]:
            content = queue.read_folder(home, datasets)
            content["models"] = read_models(home, self._config.registries, content)
            return content

        return dict(self._call(owner, read))

    def request(self, owner: str, name: str, data: Mapping[str, Any]) -> None:
        self._call(owner, lambda home: queue.write_json(home / queue.FOLDER / queue.REQUESTS / f"{name}.json", data))

    def prepare(self, record: RunRecord) -> None:
        self._call(record.owner, lambda home: queue.prepare(home, record.name, record.to_json()))

    def finish(self, record: RunRecord) -> None:
        self._call(record.owner, lambda home: queue.finish(home, record.name, record.to_json()))

    def discard(self, owner: str, name: str) -> None:
        self._call(owner, lambda home: queue.discard(home, name))

    def refuse(self, owner: str, name: str, reason: str) -> None:
        self._call(owner, lambda home: queue.refuse(home, name, reason))

    def measure(self, record: RunRecord, step: str) -> Measurement:
        definition = record.request.source.definition.step(step)
        repository = Path(record.request.source.folder)
        champions = [gate.champion for gate in definition.gates if gate.champion is not None]

        def read(home: Path) -> dict[str, Any]:
            metrics = work_folder(home, record.name) / str(definition.metrics)
            try:
                values = metrics_of(queue.read_json(metrics))
            except (OSError, ValueError) as error:
                return {"fault": f"the metrics file {metrics} cannot be read: {error}"}
            return {"metrics": values, "champions": {path: _champion(repository / path) for path in champions}}

        return Measurement(**self._call(record.owner, read))

    def _call(self, owner: str, function: Callable[[Path], Any]) -> Any:
        try:
            account = _account(self._config, owner)
            return call_as(account, lambda: function(account.home))
        except OwnerError as error:
            raise PortError(str(error)) from error


class HostSlurm:
    """Slurm through the commands of this host."""

    def __init__(self, config: PipelinesConfig) -> None:
        self._config = config

    def view(self, names: Collection[str], since: float) -> JobView:
        wanted, at = sorted(names), time.time()
        try:
            # squeue second: its state of a job is the later one.
            accounted = slurm.accounted(wanted, since, self._config.rates)
            return merged_jobs(at, slurm.queued(wanted), accounted)
        except slurm.SlurmCommandError as error:
            raise PortError(str(error)) from error

    def submit(self, record: RunRecord, step: str) -> SubmitOutcome:
        source = record.request.source
        try:
            account = _account(self._config, record.owner)
        except OwnerError as error:
            return SubmitOutcome(fault=str(error))
        # The last one of several options counts.
        options = [
            *source.definition.step(step).options,
            f"--job-name={job_name(record.name, step)}",
            f"--comment={record.request.comment(step)}",
            f"--account={source.definition.account}",
            f"--chdir={source.folder}",
            "--export=ALL",
            "--propagate=NONE",
        ]
        variables = {
            "LANDBRIDGE_PIPELINE": source.definition.name,
            "LANDBRIDGE_PIPELINE_RUN": record.name,
            "LANDBRIDGE_PIPELINE_STEP": step,
            "LANDBRIDGE_RUN_FOLDER": str(work_folder(account.home, record.name)),
            "LANDBRIDGE_TRIGGER": f"{record.request.trigger}:{record.request.key}",
        }
        if record.request.trigger == "model":
            variables["LANDBRIDGE_MODEL"] = model_of(record.request.key)
        config = self._config
        return slurm.submit(
            account, options, source.scripts[step], variables, config.sbatch_seconds, config.unknown_results
        )

    def cancel(self, record: RunRecord, job: int) -> None:
        try:
            slurm.cancel(_account(self._config, record.owner), job)
        except (OwnerError, slurm.SlurmCommandError) as error:
            raise PortError(str(error)) from error


def work_folder(home: Path, run: str) -> Path:
    """Return the folder for results of a run."""
    return home / queue.FOLDER / queue.WORK / run


def _account(config: PipelinesConfig, owner: str) -> OwnerAccount:
    return account_of(owner, config.homes.get(owner))


def _champion(path: Path) -> dict[str, float] | None:
    """Return the champion's metrics; None without a champion. Raises ValueError for a file of another form."""
    try:
        return metrics_of(queue.read_json(path))
    except FileNotFoundError:
        return None
