"""Record of a run: the state of its steps. The service's journal has one file for each run, as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from landbridge.pipelines.runs.request import RunRequest


class StepState(StrEnum):
    """State of a step."""

    WAITING = "waiting"  # for its needs
    SUBMITTING = "submitting"  # sbatch was started; its result is not known
    SUBMITTED = "submitted"  # Slurm has its job
    MEASURING = "measuring"  # the job has ended well; its gates are not decided
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def has_ended(self) -> bool:
        """Return whether the state is final."""
        return self in (StepState.DONE, StepState.FAILED, StepState.CANCELLED, StepState.SKIPPED)

    @property
    def may_have_job(self) -> bool:
        """Return whether Slurm may have a job of the step that has not ended."""
        return self in (StepState.SUBMITTING, StepState.SUBMITTED)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """Record of a step. `intent` is the time at which sbatch was started, `measuring` the time since which its metrics
    are read; `usd` is None if the cost is unknown.
    """

    state: StepState = StepState.WAITING
    job: int | None = None
    intent: float | None = None
    measuring: float | None = None
    reason: str = ""
    usd: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRecord:
    """Record of a run. Before `hold_until` nothing is submitted: the journal was lost, and a job may appear late."""

    owner: str
    request: RunRequest
    created: float
    steps: Mapping[str, StepRecord]
    hold_until: float = 0.0
    cancelled: bool = False
    ended: float | None = None
    outcome: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        """Return the run's name."""
        return self.request.name

    @property
    def usd(self) -> float:
        """Return the known cost of the steps."""
        return sum(step.usd or 0.0 for step in self.steps.values())

    def with_step(self, name: str, **changes: Any) -> "RunRecord":
        """Return the record with changes of one step."""
        return replace(self, steps={**self.steps, name: replace(self.steps[name], **changes)})

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "owner": self.owner,
            "request": self.request.to_json(),
            "created": self.created,
            "steps": {name: _step_json(step) for name, step in self.steps.items()},
            "hold_until": self.hold_until,
            "cancelled": self.cancelled,
            "ended": self.ended,
            "outcome": self.outcome,
            "reason": self.reason,
        }

    @classmethod
    def parse(cls, data: Any) -> "RunRecord":
        """Return the record of plain data. Raises ValueError, KeyError or TypeError."""
        request = RunRequest.parse(data["request"])
        names = [step.name for step in request.source.definition.steps]
        if set(data["steps"]) != set(names):
            raise ValueError("the steps are not those of the definition")
        return cls(
            owner=str(data["owner"]),
            request=request,
            created=float(data["created"]),
            steps={name: _parse_step(data["steps"][name]) for name in names},
            hold_until=float(data["hold_until"]),
            cancelled=data["cancelled"] is True,
            ended=None if data["ended"] is None else float(data["ended"]),
            outcome=str(data["outcome"]),
            reason=str(data["reason"]),
        )


def new_record(owner: str, request: RunRequest, now: float, hold_until: float = 0.0) -> RunRecord:
    """Return the record of a run that has not begun."""
    steps = {step.name: StepRecord() for step in request.source.definition.steps}
    return RunRecord(owner, request, now, steps, hold_until)


def _step_json(step: StepRecord) -> dict[str, Any]:
    return {
        "state": step.state.value,
        "job": step.job,
        "intent": step.intent,
        "measuring": step.measuring,
        "reason": step.reason,
        "usd": step.usd,
        "metrics": dict(step.metrics),
    }


def _parse_step(data: Any) -> StepRecord:
    return StepRecord(
        state=StepState(data["state"]),
        job=None if data["job"] is None else int(data["job"]),
        intent=None if data["intent"] is None else float(data["intent"]),
        measuring=None if data["measuring"] is None else float(data["measuring"]),
        reason=str(data["reason"]),
        usd=None if data["usd"] is None else float(data["usd"]),
        metrics={str(name): float(value) for name, value in dict(data["metrics"]).items()},
    )
