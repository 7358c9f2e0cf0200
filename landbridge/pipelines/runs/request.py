"""Request for a run: the definition and the scripts as they were, and the trigger. The owner writes it, as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from landbridge.pipelines.definition.model import DatasetItem, PipelineDefinition
from landbridge.pipelines.definition.parse import parse_definition
from landbridge.pipelines.definition.rules import script_findings
from landbridge.pipelines.runs.names import job_comment, run_name

SCHEMA = 1
TriggerKind = Literal["dataset", "schedule", "drift", "model", "commit", "hand"]
#: sbatch refuses scripts above 4 MiB (max_script_size of slurm.conf(5), default).
MAX_SCRIPT_BYTES = 4 << 20


class RequestError(ValueError):
    """Request that cannot become a run; the message has the reason."""


@dataclass(frozen=True)
class PipelineSource:
    """Definition of a pipeline with its scripts by step, and the folder of the repository."""

    definition: PipelineDefinition
    folder: str
    scripts: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "definition": self.definition.model_dump(mode="json", exclude_unset=True),
            "folder": self.folder,
            "scripts": dict(self.scripts),
        }

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> "PipelineSource":
        """Return the source of plain data that a user wrote. Raises RequestError."""
        definition, findings = parse_definition(data.get("definition"))
        scripts, folder = data.get("scripts"), data.get("folder")
        if definition is None or findings:
            raise RequestError("; ".join(finding.message for finding in findings))
        if not isinstance(folder, str) or not folder.startswith("/") or "\0" in folder:
            raise RequestError("the folder of the repository is not an absolute path")
        if not isinstance(scripts, dict) or not all(isinstance(text, str) for text in scripts.values()):
            raise RequestError("the scripts are not texts by step")
        faults = [finding.message for finding in script_findings(definition, scripts)]
        faults += [f"the script of {name} is too large" for name in scripts if len(scripts[name]) > MAX_SCRIPT_BYTES]
        if faults:
            raise RequestError("; ".join(faults))
        return cls(definition, folder, scripts)


@dataclass(frozen=True)
class RunRequest:
    """Request. `key` is the version, slot, event or commit that started the run; `datasets` are versions by name."""

    source: PipelineSource
    trigger: TriggerKind
    key: str
    requested: float
    datasets: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the run's name."""
        return run_name(self.source.definition.name, self.trigger, self.key)

    def comment(self, step: str) -> str:
        """Return the comment of a step's job. Raises RequestError for a dataset without a version."""
        items = [item for item in self.source.definition.step(step).inputs if isinstance(item, DatasetItem)]
        return job_comment(self.name, step, tuple(dict.fromkeys(self._versioned(item.dataset) for item in items)))

    def _versioned(self, dataset: str) -> str:
        if ":" in dataset:
            return dataset
        if dataset not in self.datasets:
            raise RequestError(f"the dataset {dataset} has no version in this run")
        return f"{dataset}:{self.datasets[dataset]}"

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "schema": SCHEMA,
            **self.source.to_json(),
            "trigger": self.trigger,
            "key": self.key,
            "requested": self.requested,
            "datasets": dict(self.datasets),
        }

    @classmethod
    def parse(cls, data: Any) -> "RunRequest":
        """Return the request of plain data that a user wrote. Raises RequestError."""
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise RequestError(f"not a request of schema {SCHEMA}")
        source = PipelineSource.parse(data)
        key, requested, datasets = (data.get(name) for name in ("key", "requested", "datasets"))
        trigger: Any = data.get("trigger")
        if trigger not in get_args(TriggerKind):
            raise RequestError(f"{trigger!r} is not a trigger")
        if not isinstance(key, str) or not key or len(key) > 200:
            raise RequestError("the key of the trigger is not a text")
        if not isinstance(requested, int | float) or isinstance(requested, bool):
            raise RequestError("the time of the request is not a number")
        if not isinstance(datasets, dict) or not all(isinstance(text, str) for text in datasets.values()):
            raise RequestError("the datasets are not versions by name")
        request = cls(source, trigger, key, float(requested), datasets)
        for step in source.definition.steps:
            request.comment(step.name)
        return request
