"""Triggers: the runs that are due. The key of a trigger decides the run's name, so that it starts one run only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from landbridge.pipelines.definition.model import (
    DatasetItem,
    DatasetTrigger,
    DriftTrigger,
    ModelTrigger,
    PipelineDefinition,
    PipelineTrigger,
    ScheduleTrigger,
)
from landbridge.pipelines.runs.names import is_run_of, run_name
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


@dataclass(frozen=True, slots=True)
class ModelEvent:
    """Complete version of a registered model, or a version that has an alias since `at`. `key` has model, alias, version, the
    number of the move, and after a hyphen the first digits of the version's digest.
    """

    key: str
    at: float
    alias: str = ""
    pipeline_run: str = ""


@dataclass(frozen=True)
class TriggerView:
    """Observed causes: versions by dataset, drifts by service, and events by registered model."""

    versions: Mapping[str, tuple[SiteVersion, ...]] = field(default_factory=dict)
    drifts: Mapping[str, DriftEvent] = field(default_factory=dict)
    models: Mapping[str, tuple[ModelEvent, ...]] = field(default_factory=dict)

    def newest(self, dataset: str) -> SiteVersion | None:
        """Return the version that was complete last."""
        versions = self.versions.get(dataset, ())
        return max(versions, key=lambda each: (each.complete, each.version)) if versions else None


def due_request(
    source: PipelineSource, registered: float, view: TriggerView, runs: Mapping[str, float], now: float
) -> RunRequest | None:
    """Return the request of the first trigger that is due; None if none is.

    `runs`: end of each run of this pipeline, by its name. Causes from before `registered` start nothing.
    """
    definition = source.definition
    for trigger in definition.triggers:
        for kind, key in _causes(trigger, definition, registered, view, runs, now):
            datasets = dict(_newest(definition, view))
            if kind == "dataset":
                name, _, version = key.partition(":")
                datasets[name] = version
            request = RunRequest(source, kind, key, now, datasets)
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


def model_of(key: str) -> str:
    """Return NAME/VERSION of the key of a model's event."""
    subject, _, version = key.partition("#")[0].partition(":")
    return f"{subject.partition('@')[0]}/{version.partition('-')[0]}"


def last_slot(trigger: ScheduleTrigger, now: float) -> float:
    """Return the last time of a schedule that is not after `now`."""
    hour, minute = (int(part) for part in trigger.at.split(":"))
    slot = datetime.fromtimestamp(now, UTC).replace(hour=hour, minute=minute, second=0, microsecond=0)
    while slot.timestamp() > now or (trigger.day is not None and slot.weekday() != _DAYS.index(trigger.day)):
        slot -= timedelta(days=1)
    return slot.timestamp()


def _causes(
    trigger: PipelineTrigger,
    definition: PipelineDefinition,
    registered: float,
    view: TriggerView,
    runs: Mapping[str, float],
    now: float,
) -> Iterator[tuple[TriggerKind, str]]:
    """Yield kind and key of each cause of a trigger that is due, the oldest first."""
    if isinstance(trigger, DatasetTrigger):
        versions = sorted(view.versions.get(trigger.dataset, ()), key=lambda each: (each.complete, each.version))
        for version in versions if trigger.each else versions[-1:]:
            if version.complete > registered:
                yield "dataset", f"{trigger.dataset}:{version.version}"
    elif isinstance(trigger, ScheduleTrigger):
        slot = last_slot(trigger, now)
        if slot > registered:
            yield "schedule", datetime.fromtimestamp(slot, UTC).strftime("%Y-%m-%dT%H:%MZ")
    elif isinstance(trigger, DriftTrigger):
        event, last_run = view.drifts.get(trigger.service), max(runs.values(), default=None)
        is_cool = last_run is None or now - last_run >= trigger.cool_down_hours * 3600
        if event is not None and event.at > registered and is_cool:
            yield "drift", f"{trigger.service}:{event.key}"
    elif isinstance(trigger, ModelTrigger):
        events = [each for each in view.models.get(trigger.model, ()) if each.alias == (trigger.alias or "")]
        for each in sorted(events, key=lambda each: (each.at, each.key)):
            # Else a pipeline that registers the model would start itself for ever.
            is_own = is_run_of(each.pipeline_run, definition.name)
            if each.at > registered and not is_own and not _had_run(each, definition.name, runs):
                yield "model", each.key


def _had_run(event: ModelEvent, pipeline: str, runs: Mapping[str, float]) -> bool:
    """Return whether an earlier release, whose keys had no digest, started the run of an event."""
    ended = runs.get(run_name(pipeline, "model", event.key.rpartition("-")[0]))
    # A version that was created again after the end of that run is another one.
    return ended is not None and event.at <= ended


def _newest(definition: PipelineDefinition, view: TriggerView) -> Iterator[tuple[str, str]]:
    for name in sorted(wanted_datasets(definition)):
        newest = view.newest(name)
        if newest is not None:
            yield name, newest.version
