"""Values between Slurm and a run: jobs by name, and actions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

#: States of a job that has ended: Slurm's job_state_string (src/common/slurm_protocol_defs.c, 23.11 to 26.05).
ENDED_STATES = frozenset(
    (
        *("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE"),
        *("OUT_OF_MEMORY", "REVOKED"),
    )
)


@dataclass(frozen=True, slots=True)
class StepJob:
    """Job of Slurm. `why` is Slurm's reason of its wait; `usd` is its cost so far, None if it is unknown."""

    id: int
    name: str
    user: str
    state: str
    why: str = ""
    usd: float | None = None

    @property
    def has_ended(self) -> bool:
        """Return whether the state is final."""
        return self.state in ENDED_STATES


@dataclass(frozen=True)
class JobView:
    """Jobs by owner and name, each sorted by id. `at` is the time before they were read."""

    at: float
    jobs: Mapping[tuple[str, str], tuple[StepJob, ...]] = field(default_factory=dict)

    def of(self, owner: str, name: str) -> tuple[StepJob, ...]:
        """Return the jobs with this name of one owner."""
        return self.jobs.get((owner, name), ())


@dataclass(frozen=True)
class Measurement:
    """Metrics of a step by name, and metrics of champions by path; `fault`: the metrics cannot be read."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    champions: Mapping[str, Mapping[str, float] | None] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class SubmitStep:
    """Submission of a step's job."""

    step: str


@dataclass(frozen=True, slots=True)
class CancelJob:
    """Cancellation of a job."""

    job: int


PipelineAction = SubmitStep | CancelJob


@dataclass(frozen=True, slots=True)
class SubmitOutcome:
    """Outcome of sbatch: the job, a refusal of Slurm, or neither if the result is not known."""

    job: int | None = None
    refusal: str = ""
    fault: str = ""


def merged_jobs(at: float, queued: list[StepJob], accounted: list[StepJob]) -> JobView:
    """Return the view of squeue's and sacct's jobs. squeue's state is the later one: it is read second."""
    by_id = {job.id: job for job in accounted}
    for job in queued:
        earlier = by_id.get(job.id)
        usd = earlier.usd if earlier is not None else None
        by_id[job.id] = StepJob(job.id, job.name, job.user, job.state, job.why, usd)
    jobs: dict[tuple[str, str], list[StepJob]] = {}
    for number in sorted(by_id):
        jobs.setdefault((by_id[number].user, by_id[number].name), []).append(by_id[number])
    return JobView(at, {key: tuple(named_jobs) for key, named_jobs in jobs.items()})
