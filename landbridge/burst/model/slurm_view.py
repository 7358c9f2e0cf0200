"""Observed Slurm: jobs and nodes at one time."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """Job as reported by squeue. `nodes`: its allocated nodes; `started`: the time of the allocation."""

    id: int
    state: str  # PENDING, CONFIGURING, RUNNING, COMPLETING, SUSPENDED
    nodes: tuple[str, ...] = ()
    partition: str = ""
    account: str = ""
    user: str = ""
    wckey: str = ""
    restarts: int = 0
    started: float | None = None
    minutes: int | None = None  # time limit; None: unlimited
    het_job: int = 0  # the leader's id of a heterogeneous job, else 0
    array_job: int = 0
    wanted_nodes: int = 0  # of a pending job
    eligible: float | None = None  # since when it may start; None: it waits for another job, or it is held
    expected_start: float | None = None  # the backfill scheduler's estimate for a pending job
    comment: str = ""  # the user's
    array_task: int | None = None
    is_batch: bool = True  # False: an interactive job of salloc or srun
    may_requeue: bool = True  # --requeue, or JobRequeue=1 without --no-requeue
    gpus: int = 0  # on all its nodes; requested by a job without nodes
    cpus: int = 0  # likewise

    @property
    def slurm_id(self) -> str:
        """Return the id for `scontrol update`, which changes this job alone.

        The last task of an array keeps the array's id as its job id, and an update of that id changes every task
        (Slurm's job_mgr.c, update_job_str).
        """
        return str(self.id) if self.array_task is None else f"{self.array_job}_{self.array_task}"

    @property
    def is_requeued(self) -> bool:
        """Return whether Slurm requeues the job when its node goes down, rather than ends it with NODE_FAIL (job_mgr.c,
        _foreach_kill_running_job_by_node)."""
        return self.is_batch and self.may_requeue


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """Cloud node in Slurm. `states`: its base state and flags, such as {"IDLE", "CLOUD", "POWERED_DOWN"}."""

    name: str
    states: frozenset[str]
    reason: str = ""
    address: str = ""  # NodeAddr if it was requested, else empty


@dataclass(frozen=True, slots=True)
class SlurmView:
    """View of Slurm at one time: the jobs on or for cloud nodes, and all cloud nodes. It is read after the Ec2View of
    the same pass.

    `seconds_to_aws`: time until the data that a job states are in AWS, 0 for a job that is not in it. None for a job: the
    time is not known; None for all: it is not known which jobs state data.
    """

    at: float
    jobs: Mapping[int, SlurmJob]
    nodes: Mapping[str, SlurmNode]
    seconds_to_aws: Mapping[int, float | None] | None = field(default_factory=dict)
