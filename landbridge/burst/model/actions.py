"""Gangs, the actions of a pass, their decision records and their outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.burst.model.instance_status import InstanceStatus
from landbridge.burst.model.policy import Offering
from landbridge.burst.model.slurm_view import SlurmJob
from landbridge.burst.model.state import Attempt, State


@dataclass(frozen=True, slots=True)
class Gang:
    """Nodes of one pool that are launched together, all or none if `all_or_nothing`. A het job of several pools has
    several gangs with the same `job_key`, which fail together."""

    key: str
    job_key: str
    pool: str
    nodes: tuple[str, ...]
    jobs: tuple[int, ...]
    all_or_nothing: bool
    account: str = ""
    restarts: tuple[int, ...] = ()
    started: float | None = None
    minutes: int | None = None
    zones: frozenset[str] = frozenset()  # of the job's nodes that have an instance; empty: any
    types: frozenset[str] = frozenset()  # of the job's nodes in the pool that have an instance; empty: any
    regions: frozenset[str] = frozenset()  # besides the policy's own, where its jobs' data may be


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch of a gang at one offering. Its attempts and holds are written to the journal before the calls are made.

    A gang that is larger than one call permits has several attempts; `tags` are those of every instance.
    """

    gang: Gang
    offering: Offering
    attempts: tuple[Attempt, ...]
    tags: Mapping[str, str]
    repeated: bool = False  # the journal has these attempts: the same calls are repeated


@dataclass(frozen=True, slots=True)
class Terminate:
    """Termination of instances."""

    instances: tuple[str, ...]
    why: str  # a code of DecisionRecord


@dataclass(frozen=True, slots=True)
class Down:
    """State change of nodes to DOWN with a reason that starts with `landbridge: CODE`, then power-down. Slurm requeues
    their jobs, except `ended_jobs`: these get the reason before they end."""

    nodes: tuple[str, ...]
    code: str
    text: str
    ended_jobs: tuple[SlurmJob, ...] = ()


@dataclass(frozen=True, slots=True)
class RequeueJobs:
    """Requeue of jobs whose nodes stay up. A job that Slurm does not requeue gets the reason, and is cancelled."""

    jobs: tuple[SlurmJob, ...]
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ResumeNodes:
    """End of the state DOWN of healthy nodes, which then accept jobs."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetAddresses:
    """New addresses (NodeAddr) of nodes in Slurm."""

    addresses: Mapping[str, str]  # node -> IP


@dataclass(frozen=True, slots=True)
class Renew:
    """Renewal of the lease of instances."""

    instances: tuple[str, ...]
    until: float


@dataclass(frozen=True, slots=True)
class JobComment:
    """AdminComment of a pending job with the reason why it does not run, and its earliest start `until` (None: at once)."""

    job: int
    slurm_id: str  # SlurmJob.slurm_id
    text: str
    until: float | None


@dataclass(frozen=True, slots=True)
class CommentJobs:
    """Comments of jobs. They are one action, so that the journal is written once for all."""

    comments: tuple[JobComment, ...]


@dataclass(frozen=True, slots=True)
class Promote:
    """Promotion of a pending job: it may also use the partitions that have cloud nodes."""

    job: int
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PowerUp:
    """Power-up by Slurm of nodes without a job, up to the pool's `min_nodes`."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PowerDown:
    """Power-down by Slurm of nodes without a job, with a reason in the form of Down's reason. A job that Slurm starts
    there meanwhile runs to its end.
    """

    nodes: tuple[str, ...]
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class RecordTopology:
    """Read of the network nodes of instances from EC2, and their record in the comments of their nodes in Slurm."""

    instances: Mapping[str, str]  # node -> id
    jobs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # node -> jobs for which it was launched


@dataclass(frozen=True, slots=True)
class ReadStatuses:
    """Read of the statuses of all running instances of a region. `failed`: the error code of the read before."""

    region: str  # empty: the policy's own
    instances: tuple[str, ...]
    failed: str = ""


@dataclass(frozen=True, slots=True)
class KeepNodes:
    """Exclusion of `nodes` from Slurm's suspension of idle nodes, and its end for the other nodes in `owned`."""

    nodes: tuple[str, ...]
    owned: frozenset[str]


Action = (
    Launch
    | Terminate
    | Down
    | RequeueJobs
    | ResumeNodes
    | SetAddresses
    | Renew
    | CommentJobs
    | Promote
    | PowerUp
    | PowerDown
    | RecordTopology
    | ReadStatuses
    | KeepNodes
)


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """Line of the decision log: a decision with its reason, price and rejected offerings."""

    at: float
    event: str  # launch, refused, exhausted, terminate, renew, breaker, promote, ...
    jobs: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    pool: str = ""
    code: str = ""
    text: str = ""
    usd: float | None = None
    details: Mapping[str, object] = field(
        default_factory=dict
    )  # JSON-able: rejected offerings with reasons, instances, ...


@dataclass(frozen=True, slots=True)
class ReconcileDecision:
    """Decision of one pass. `state` is the next journal state, before the outcome of any action and without the
    completed orders."""

    actions: tuple[Action, ...]
    records: tuple[DecisionRecord, ...]
    state: State
    next_pass: float | None = None  # if before the usual interval: end of a grace time, backoff or wait for capacity


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """Outcome of an action. For a Launch: instances by node with their addresses, or the error of the first failing call;
    `terminated`: instances by node that were launched and terminated, because the rest of their gang was refused.

    For a RecordTopology: the network paths by node, and the instances whose topology is not read again. For a Terminate:
    the instances that EC2 refuses to terminate, with its code and message; they are not a failure of the call for the others.
    For a CommentJobs: the jobs that have their comment. For a ReadStatuses: the statuses of the instances that have one.
    """

    code: str = ""  # empty: success
    message: str = ""
    instances: Mapping[str, str] = field(default_factory=dict)  # node -> id
    addresses: Mapping[str, str] = field(default_factory=dict)  # node -> IP
    terminated: Mapping[str, str] = field(default_factory=dict)  # node -> id
    network_paths: Mapping[str, str] = field(default_factory=dict)  # node -> network nodes, top layer first: nn-1/nn-2
    refused: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # instance -> code and message
    jobs: frozenset[int] = frozenset()
    statuses: Mapping[str, InstanceStatus] = field(default_factory=dict)  # by instance
