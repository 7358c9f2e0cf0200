"""Journal state: orders, launch attempts, back-offs, and offerings and pools that are not tried for a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from landbridge.burst.model.charges import Charge
from landbridge.burst.model.holds import BudgetHold
from landbridge.burst.model.instance_status import InstanceStatus, StatusRead
from landbridge.burst.model.node_keep import NodeKeep
from landbridge.burst.model.training_job import TrainingJob

OrderKind = Literal["resume", "suspend", "resume-fail", "wake"]


@dataclass(frozen=True, slots=True)
class SlurmOrder:
    """Order in the journal: one call of ResumeProgram, SuspendProgram or ResumeFailProgram."""

    seq: int
    kind: OrderKind
    nodes: tuple[str, ...]
    at: float
    jobs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # resume file: job -> nodes to start


@dataclass(frozen=True, slots=True)
class Attempt:
    """Launch call, written to the journal before it is made. A repeated call has the same token and the same
    parameters."""

    token: str
    gang: str  # Gang.key
    pool: str
    offering: str  # Offering.key
    nodes: tuple[str, ...]
    jobs: tuple[int, ...]
    account: str
    all_or_nothing: bool
    lease: float
    created_at: float
    hold_usd: float
    usd_hour: float
    data_class: str = ""
    ended: float | None = None  # None: the result of the call is not known yet
    code: str = ""  # empty: launched
    instances: Mapping[str, str] = field(default_factory=dict)  # node -> instance id
    ends: Mapping[str, str] = field(default_factory=dict)  # node -> EC2's reason for the end of its booting instance


@dataclass(frozen=True, slots=True)
class InsufficientCapacity:
    """Insufficient capacity of an offering, or another refusal by EC2: it is not tried for `nodes` or more nodes before
    `until`. The time increases with `tries`, except after a configuration error. `message`: EC2's, if it accepted the
    launch and ended its instances.

    EC2 refuses a gang of which it has only a part, so a launch of fewer nodes is still tried.
    """

    until: float
    tries: int
    code: str
    nodes: int = 1
    message: str = ""


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """Open circuit breaker of a pool: nothing is launched before an operator resets it, or one probe is made at `until`."""

    code: str
    message: str
    since: float
    count: int
    until: float


@dataclass(frozen=True, slots=True)
class Backoff:
    """Back-off of a job: the reason, and when it may be tried again. `reported`: the job's comment has the reason."""

    until: float
    tries: int
    code: str
    text: str
    reported: bool = False


class ObservationKind(StrEnum):
    """Condition of a node or an instance that has to last for some time before the controller acts on it."""

    NODE_WAITS_FOR_AWS = "node-waits-for-aws"  # AWS does not answer a node's launch
    NODE_WITHOUT_JOB = "node-without-job"  # a node powers up for a job that has ended
    NODE_WITHOUT_INSTANCE = "node-without-instance"  # a node is up, and EC2 shows no instance
    NODE_DOWN = "node-down"
    NODE_DRAINED = "node-drained"  # by a program
    INSTANCE_WITHOUT_NODE = "instance-without-node"
    JOB_APART = "job-apart"  # a job has nodes in several zones or of several instance types, and is not moved
    INSTANCE_IMPAIRED = "instance-impaired"  # a status check of EC2 has failed
    INSTANCE_OLDER_THAN_JOBS = "instance-older-than-jobs"  # perhaps of an earlier power-up of its node


@dataclass(frozen=True, slots=True)
class Observation:
    """Observed condition of one node (its name) or one instance (its id)."""

    kind: ObservationKind
    subject: str


@dataclass(frozen=True, slots=True)
class RegistrationFailure:
    """Launch of a pool of which a node did not register with slurmctld in time. By token."""

    pool: str
    launched_at: float


@dataclass(frozen=True, slots=True)
class TerminationRefusal:
    """Refusal by EC2 to terminate an instance, such as a termination-protected one. It is requested again, apart from
    other instances, at `until`."""

    code: str
    message: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class HostClock:
    """Wall clock of the controller's host, less the seconds since its boot: constant until the clock jumps. `boot`: the
    boot's id; `jump`: the seconds by which it has jumped since the pass before."""

    boot: str
    offset: float
    jump: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """State of the journal. An empty one is valid: the next pass converges from Slurm and EC2 alone.

    `charges` only grows during a pass: it has the parts of `spent` that the pass has added. The journal adds up the new
    ones and loads none.
    """

    orders: tuple[SlurmOrder, ...] = ()  # not carried out yet
    attempts: Mapping[str, Attempt] = field(default_factory=dict)  # by token
    insufficient_capacity: Mapping[str, InsufficientCapacity] = field(default_factory=dict)  # by Offering.key
    breakers: Mapping[str, CircuitBreaker] = field(default_factory=dict)  # by pool
    holds: Mapping[str, BudgetHold] = field(default_factory=dict)  # by instance, or by token of an open attempt
    spent: Mapping[tuple[str, str, str], float] = field(default_factory=dict)  # (month, account, pool) -> USD
    charges: tuple[Charge, ...] = field(default=(), compare=False)
    training_jobs: Mapping[str, TrainingJob] = field(default_factory=dict)  # of SageMaker, by name
    backoffs: Mapping[int, Backoff] = field(default_factory=dict)  # by job
    drained: Mapping[str, str] = field(default_factory=dict)  # pool -> reason, by `landbridge burst drain`
    terminated_at: Mapping[str, float] = field(default_factory=dict)  # instance -> time of TerminateInstances
    charged_until: Mapping[str, float] = field(
        default_factory=dict
    )  # instance that EC2 did not show -> end of its charges
    termination_refusals: Mapping[str, TerminationRefusal] = field(default_factory=dict)  # by instance
    node_addresses: Mapping[str, str] = field(default_factory=dict)  # node -> NodeAddr set in Slurm
    topology_read: Mapping[str, str] = field(default_factory=dict)  # node -> instance whose network nodes were read
    instance_statuses: Mapping[str, InstanceStatus] = field(default_factory=dict)  # by instance
    status_reads: Mapping[str, StatusRead] = field(default_factory=dict)  # by region; empty: the policy's own
    keeps: Mapping[str, NodeKeep] = field(default_factory=dict)  # by node, by `landbridge burst keep`
    keeps_in_slurm: Mapping[str, float] = field(default_factory=dict)  # node -> time; SuspendExcNodes may have it
    first_seen: Mapping[Observation, float] = field(default_factory=dict)
    min_nodes_requested_at: Mapping[str, float] = field(default_factory=dict)  # by pool
    registration_failures: Mapping[str, RegistrationFailure] = field(default_factory=dict)  # by token
    clock: HostClock | None = None  # of the last pass; None before the first one
    last_observation_at: float | None = None  # time of the last pass with entries in `first_seen`
    throttled_until: Mapping[str, float] = field(default_factory=dict)  # launches wait; by region/pool, or region/
