"""Definition of a pipeline: the content of `pipelines/NAME.yaml` in a user's repository."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text, Usd, UserName, Word

#: The names of models in SageMaker have at most 57 characters; the job's name has the name and the step.
PipelineName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$")]
StepName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$")]
RelativePath = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$", max_length=400)
]
AnyPath = Annotated[
    str, StringConstraints(pattern=r"^/?[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$", max_length=400)
]
DatasetName = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}(:[A-Za-z0-9][A-Za-z0-9._-]{0,62})?$")
]
#: Names of `landbridge.models.names`.
ModelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9](-*[A-Za-z0-9])*$", max_length=57)]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class DatasetTrigger(Model):
    """Trigger by a new version of a dataset at the site."""

    kind: Literal["dataset"]
    dataset: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")] = Field(
        description="name of the dataset, without a version"
    )
    each: bool = Field(
        default=False,
        description="a run for each version, the oldest first, such as one for each day; else for the newest one",
    )


class ScheduleTrigger(Model):
    """Trigger at a time of day in UTC, on every day or on one day of the week."""

    kind: Literal["schedule"]
    at: TimeOfDay = Field(description="time in UTC, such as 02:00")
    day: Weekday | None = Field(default=None, description="day of the week; none: every day")


class DriftTrigger(Model):
    """Trigger by a recorded drift of a served model."""

    kind: Literal["drift"]
    service: Word = Field(description="name of the service whose drift is recorded")
    cool_down_hours: Annotated[float, Field(ge=0, le=8760)] = Field(
        default=24, description="hours after the start of the last run in which drift starts no other"
    )


class ModelTrigger(Model):
    """Trigger by each new version of a registered model, or by each move of an alias to a version.

    A version that a run of this pipeline registered starts nothing.
    """

    kind: Literal["model"]
    model: ModelName = Field(description="registered model in the MLflow server of the data class")
    alias: Literal["candidate", "staging", "champion"] | None = Field(
        default=None, description="alias whose moves start a run; none: each complete version does"
    )


class CommitTrigger(Model):
    """Trigger by a commit: a CI job calls `landbridge pipeline run --commit`."""

    kind: Literal["commit"]


class HandTrigger(Model):
    """Trigger by hand: a user calls `landbridge pipeline run`."""

    kind: Literal["hand"]


PipelineTrigger = Annotated[
    DatasetTrigger | ScheduleTrigger | DriftTrigger | ModelTrigger | CommitTrigger | HandTrigger,
    Field(discriminator="kind"),
]


class DatasetItem(Model):
    """Dataset, by name and version, or by name alone if a trigger has the version."""

    kind: Literal["dataset"]
    dataset: DatasetName


class FileItem(Model):
    """File, absolute or relative to the folder of the repository."""

    kind: Literal["file"]
    path: AnyPath


StepItem = Annotated[DatasetItem | FileItem, Field(discriminator="kind")]


class PipelineGate(Model):
    """Gate: condition on a metric that the step measured. It has one of `at_least`, `at_most` and `champion`."""

    metric: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_./-]{0,99}$")]
    at_least: float | None = None
    at_most: float | None = None
    champion: AnyPath | None = Field(
        default=None,
        description="model.json or metrics file of the champion; if there is no such file, the gate is passed",
    )
    better: Literal["higher", "lower"] = Field(
        default="higher", description="which value is better than the champion's"
    )
    margin: Annotated[float, Field(ge=0)] = Field(
        default=0, description="amount by which the value may be worse than the champion's"
    )


class PipelineStep(Model):
    """Step: one batch job of Slurm. Containers are named in the script or in `options`, as in every job."""

    name: StepName
    script: RelativePath = Field(description="batch script, relative to the folder of the repository")
    needs: tuple[StepName, ...] = Field(default=(), description="steps that must have succeeded before")
    options: tuple[Text, ...] = Field(default=(), description="options of sbatch, such as --partition=gpu")
    inputs: tuple[StepItem, ...] = Field(default=(), description="datasets and files that the step reads")
    outputs: tuple[StepItem, ...] = Field(default=(), description="datasets and files that the step writes")
    metrics: AnyPath | None = Field(
        default=None,
        description="JSON file of numbers by metric that the step writes, in $LANDBRIDGE_RUN_FOLDER or absolute",
    )
    gates: tuple[PipelineGate, ...] = Field(default=(), description="conditions for the success of the step")


class PipelineDefinition(Model):
    """Pipeline: steps with their order, and the triggers of its runs."""

    name: PipelineName
    owner: UserName = Field(description="user whose jobs the steps are")
    account: UserName = Field(description="Slurm account that pays")
    data_class: Word = Field(description="data class of the account")
    budget_usd: Usd | None = Field(default=None, description="cost of a run at which no further step starts")
    triggers: Annotated[tuple[PipelineTrigger, ...], Field(min_length=1, max_length=20)]
    steps: Annotated[tuple[PipelineStep, ...], Field(min_length=1, max_length=100)]

    def step(self, name: str) -> PipelineStep:
        """Return the step of this name. Raises KeyError."""
        return {step.name: step for step in self.steps}[name]

    @property
    def dataset_triggers(self) -> frozenset[str]:
        """Return the datasets whose new versions start a run."""
        return frozenset(trigger.dataset for trigger in self.triggers if isinstance(trigger, DatasetTrigger))
