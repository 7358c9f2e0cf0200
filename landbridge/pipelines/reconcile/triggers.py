"""Triggers: the runs that are due. The key of a trigger decides the run's name, so that it starts one run only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from landbridge.pipelines.definition.model import (
    DatasetItem,
    DatasetTrigger,
    DriftTrigger,
    PipelineDefinition,
    PipelineTrigger,
    ScheduleTrigger,
)
from landbridge.pipelines.runs.request import PipelineSource, RequestError, RunRequest, TriggerKind

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class SiteVersion:
    """Version of a dataset at the site, and the time at which it was complete."""

    version: str
    complete: float


@dataclass(frozen=True, slots=True)
class DriftEvent:
    """Recorded drift of a service."""

    key: str
    at: float


@dataclass(frozen=True)
class TriggerView:
    """Observed causes: versions by dataset, and drifts by service."""

    versions: Mapping[str, tuple[SiteVersion, ...]] = field(default_factory=dict)
    drifts: Mapping[str, DriftEvent] = field(default_factory=dict)

    def newest(self, dataset: str) -> SiteVersion | None:
        """Return the version that was complete last."""
        versions = self.versions.get(dataset, ())
        return max(versions, key=lambda each: (each.complete, each.version)) if versions else None


def due_request(
    source: PipelineSource, registered: float, view: TriggerView, runs: Mapping[str, float], now: float
) -> RunRequest | None:
    """Return the request of the first trigger that is due; None if none is.

    `runs`: start of each run of this pipeline, by its name. Causes from before `registered` start nothing.
    """
    definition = source.definition
    for trigger in definition.triggers:
        cause = _cause(trigger, registered, view, max(runs.values(), default=None), now)
        if cause is None:
            continue
        kind, key = cause
        request = RunRequest(source, kind, key, now, _datasets(definition, view))
        if request.name in runs:
            continue
        try:
            for step in definition.steps:
                request.comment(step.name)
        except RequestError:
            continue  # a dataset has no version at the site yet
        return request
    return None


def wanted_datasets(definition: PipelineDefinition) -> frozenset[str]:
    """Return the datasets whose versions at the site decide about a run."""
    inputs = (item.dataset for step in definition.steps for item in step.inputs if isinstance(item, DatasetItem))
    return definition.dataset_triggers | {name for name in inputs if ":" not in name}


def last_slot(trigger: ScheduleTrigger, now: float) -> float:
    """Return the last time of a schedule that is not after `now`."""
    hour, minute = (int(part) for part in trigger.at.split(":"))
    slot = datetime.fromtimestamp(now, UTC).replace(hour=hour, minute=minute, second=0, microsecond=0)
    while slot.timestamp() > now or (trigger.day is not None and slot.weekday() != _DAYS.index(trigger.day)):
        slot -= timedelta(days=1)
    return slot.timestamp()


def _cause(
    trigger: PipelineTrigger, registered: float, view: TriggerView, last_run: float | None, now: float
) -> tuple[TriggerKind, str] | None:
    """Return kind and key of a trigger that is due."""
    if isinstance(trigger, DatasetTrigger):
        newest = view.newest(trigger.dataset)
        if newest is not None and newest.complete > registered:
            return "dataset", f"{trigger.dataset}:{newest.version}"
    elif isinstance(trigger, ScheduleTrigger):
        slot = last_slot(trigger, now)
        if slot > registered:
            return "schedule", datetime.fromtimestamp(slot, UTC).strftime("%Y-%m-%dT%H:%MZ")
    elif isinstance(trigger, DriftTrigger):
        event = view.drifts.get(trigger.service)
        is_cool = last_run is None or now - last_run >= trigger.cool_down_hours * 3600
        if event is not None and event.at > registered and is_cool:
            return "drift", f"{trigger.service}:{event.key}"
    return None


def _datasets(definition: PipelineDefinition, view: TriggerView) -> dict[str, str]:
    return dict(_newest(definition, view))


def _newest(definition: PipelineDefinition, view: TriggerView) -> Iterator[tuple[str, str]]:
    for name in sorted(wanted_datasets(definition)):
        newest = view.newest(name)
        if newest is not None:
            yield name, newest.version
