"""Pass of the service: accept requests, start triggered runs, and reconcile each live run with Slurm.

A pass may be killed at any point. The order of the writes is: journal, the copy of the record in the owner's folder,
sbatch. A run is submitted only if its copy exists, so that a lost journal is noticed.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from landbridge.pipelines.definition.model import PipelineDefinition
from landbridge.pipelines.reconcile.core import after_submission, needs_measurement, reconcile
from landbridge.pipelines.reconcile.triggers import DriftEvent, ModelEvent, SiteVersion, TriggerView, due_request
from landbridge.pipelines.reconcile.view import JobView, SubmitStep
from landbridge.pipelines.runs.names import is_run_of, job_name
from landbridge.pipelines.runs.record import RunRecord, new_record
from landbridge.pipelines.runs.request import PipelineSource, RequestError, RunRequest
from landbridge.pipelines.service.config import PipelinesConfig
from landbridge.pipelines.service.metrics import PipelineMetrics
from landbridge.pipelines.service.ports import OwnerFolders, PipelineSlurm, PortError, RunJournal

#: Time before the start of a run from which sacct's jobs are read: clocks differ.
EARLIER_SECONDS = 86_400.0


class PipelinePass:
    """One pass over all owners."""

    def __init__(
        self,
        config: PipelinesConfig,
        journal: RunJournal,
        folders: OwnerFolders,
        slurm: PipelineSlurm,
        log: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.config, self.journal, self.folders, self.slurm = config, journal, folders, slurm
        self.log, self.clock = log, clock
        self.metrics = PipelineMetrics(config.accounts)

    def run(self) -> None:
        """Run the pass. A fault of one owner or run is logged, and the others go on. Raises OSError of the journal."""
        records = self.journal.load()
        content: dict[str, dict[str, Any]] = {}
        for owner in sorted({*self.config.owners, *(record.owner for record in records.values())}):
            try:
                content[owner] = self.folders.read(owner)
                for fault in content[owner]["faults"]:
                    self.log(f"{owner}: {fault}")
                records |= self._accepted(owner, content[owner], records)
                self._triggered(owner, content[owner], records)
            except PortError as error:
                self.log(str(error))
        self.metrics.live(_account(record) for record in records.values())
        live = [record for record in records.values() if record.owner in content]
        if not live:
            return
        try:
            view = self._view(live)
        except PortError as error:
            self.log(str(error))
            return
        for record in sorted(live, key=lambda each: (each.created, each.name)):
            try:
                self._one(record, content[record.owner], view)
            except PortError as error:
                self.log(f"{record.name}: {error}")

    def _view(self, live: list[RunRecord]) -> JobView:
        names = [job_name(record.name, step) for record in live for step in record.steps]
        began = min(min(record.created, record.request.requested) for record in live)
        return self.slurm.view(names, max(0.0, began - EARLIER_SECONDS))

    def _accepted(
        self, owner: str, content: Mapping[str, Any], records: Mapping[str, RunRecord]
    ) -> dict[str, RunRecord]:
        """Return the records of new requests, and of those whose record was lost."""
        accepted: dict[str, RunRecord] = {}
        for name, data in sorted(content["requests"].items()):
            known = records.get(name)
            if known is not None:
                if known.owner != owner:
                    self.folders.refuse(owner, name, "another owner has a run of this name")
                continue
            if name in content["ended"]:
                self.folders.discard(owner, name)
                continue
            if (
                sum(record.owner == owner for record in (*records.values(), *accepted.values()))
                >= self.config.live_runs
            ):
                self.log(f"{owner}: {name} waits: {self.config.live_runs} runs are live")
                break
            try:
                request = self._checked(owner, name, data)
            except RequestError as error:
                self.log(f"{owner}: {name} is refused: {error}")
                self.folders.refuse(owner, name, str(error))
                continue
            accepted[name] = self._record(owner, request, content["records"].get(name))
            self.journal.save(accepted[name])
            self.log(f"{owner}: {name} is accepted")
        return accepted

    def _checked(self, owner: str, name: str, data: Any) -> RunRequest:
        request = RunRequest.parse(data)
        definition = request.source.definition
        if request.name != name:
            raise RequestError(f"the name of the run is {request.name}")
        if definition.owner != owner:
            raise RequestError(f"the owner is {definition.owner}, and the request is of {owner}")
        data_class = self.config.accounts.get(definition.account)
        if data_class is None:
            raise RequestError(f"there is no account {definition.account}")
        if data_class != definition.data_class:
            raise RequestError(f"the account {definition.account} has data of class {data_class}")
        return request

    def _record(self, owner: str, request: RunRequest, copy: Any) -> RunRecord:
        """Return the record of a run that the journal does not have."""
        now = self.clock()
        if copy is None:
            return new_record(owner, request, now)
        self.log(f"{owner}: the journal has no record of {request.name}: it is built from its copy and from Slurm")
        hold = now + self.config.settle_seconds
        try:
            record = RunRecord.parse(copy)
        except (ValueError, KeyError, TypeError):
            return new_record(owner, request, now, hold)
        is_same = record.owner == owner and record.request == request and record.ended is None
        return replace(record, hold_until=hold) if is_same else new_record(owner, request, now, hold)

    def _triggered(self, owner: str, content: Mapping[str, Any], records: Mapping[str, RunRecord]) -> None:
        """Write the request of each definition with a trigger that is due, if it has no live run."""
        for name, data in sorted(content["definitions"].items()):
            try:
                source, registered = PipelineSource.parse(data), float(data["registered"])
            except (RequestError, ValueError, KeyError, TypeError, AttributeError) as error:
                self.log(f"{owner}: the definition {name} is not used: {error}")
                continue
            live = [run for run in (*records, *content["requests"]) if is_run_of(run, source.definition.name)]
            if live:
                continue
            past = self.journal.remember(owner, content["ended"])
            ended = {run: at for run, at in past.items() if is_run_of(run, source.definition.name)}
            view = _trigger_view(content, source.definition)
            request = due_request(source, registered, view, ended, self.clock())
            if request is not None:
                self.folders.request(owner, request.name, request.to_json())
                self.log(f"{owner}: {request.name} starts by {request.trigger} {request.key}")

    def _one(self, before: RunRecord, content: Mapping[str, Any], view: JobView) -> None:
        """Reconcile one run."""
        record = before
        if before.name in content["cancel"] and not before.cancelled:
            record = replace(record, cancelled=True)
        if record.ended is None:
            if before.name not in content["records"]:
                self.folders.prepare(record)
            measured = {step: self.folders.measure(record, step) for step in needs_measurement(record, view)}
            decision = reconcile(record, view, measured, self.clock(), self.config.settle_seconds)
            record = decision.record
            if record != before:
                self.journal.save(record)
            for action in decision.actions:
                if isinstance(action, SubmitStep):
                    record = self._submitted(record, action.step)
                else:
                    self.log(f"{record.name}: job {action.job} is cancelled")
                    self.slurm.cancel(record, action.job)
        if record.ended is not None:
            self.journal.remember(record.owner, {record.name: record.ended})
            self.folders.finish(record)
            self.journal.remove(record.name)
            self.metrics.ended(_account(record), record.outcome)
            self.log(f"{record.name}: {record.outcome}{f': {record.reason}' if record.reason else ''}")
        elif record != before:
            self.folders.prepare(record)

    def _submitted(self, record: RunRecord, step: str) -> RunRecord:
        outcome = self.slurm.submit(record, step)
        changed = after_submission(record, step, outcome)
        self.journal.save(changed)
        result = f"job {outcome.job}" if outcome.job is not None else outcome.refusal or outcome.fault
        self.log(f"{record.name}: step {step}: {result}")
        return changed


def _account(record: RunRecord) -> str:
    return record.request.source.definition.account


def _trigger_view(content: Mapping[str, Any], definition: PipelineDefinition) -> TriggerView:
    versions = {
        dataset: tuple(SiteVersion(str(version), float(at)) for version, at in times.items())
        for dataset, times in content["versions"].get(definition.data_class, {}).items()
    }
    drifts = {}
    for service, event in content["drift"].items():
        if isinstance(event, dict) and isinstance(event.get("at"), int | float) and event.get("key"):
            drifts[service] = DriftEvent(str(event["key"])[:100], float(event["at"]))
    models = {
        model: tuple(ModelEvent(**event) for event in events)
        for model, events in content["models"].get(definition.account, {}).items()
    }
    return TriggerView(versions, drifts, models)
