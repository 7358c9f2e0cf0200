"""Gangs, the actions of a pass, their decision records and their outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.burst.model.policy import Offering
from landbridge.burst.model.state import Attempt, State


@dataclass(frozen=True, slots=True)
class Gang:
    """Nodes that are started together, or not at all where `all_or_nothing`. One pool; a het job of several pools is several gangs
    with the same `job_key`, and fails as one."""

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
    zones: frozenset[str] = frozenset()  # of the gang's nodes that run already; empty: any
    types: frozenset[str] = frozenset()  # of what the pool has launched for these jobs already; empty: any
    regions: frozenset[str] = frozenset()  # where besides the policy's own region its jobs' data may be


@dataclass(frozen=True, slots=True)
class Launch:
    """Start a gang at one offering: journal the attempts and holds first, then make the calls, all or nothing where whole.

    More than one attempt where the gang is larger than one call takes; `tags` are those of every instance.
    """

    gang: Gang
    offering: Offering
    attempts: tuple[Attempt, ...]
    tags: Mapping[str, str]
    repeated: bool = False  # the journal knows these attempts: the same calls once more


@dataclass(frozen=True, slots=True)
class Terminate:
    instances: tuple[str, ...]
    why: str  # a code: see records


@dataclass(frozen=True, slots=True)
class Down:
    """Set nodes down with a reason that starts with `landbridge: CODE`, then power them down: their jobs are requeued."""

    nodes: tuple[str, ...]
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class SetAddresses:
    addresses: Mapping[str, str]  # node -> IP


@dataclass(frozen=True, slots=True)
class Renew:
    """Move the lease of instances."""

    instances: tuple[str, ...]
    until: float


@dataclass(frozen=True, slots=True)
class CommentJob:
    """Write into a pending job's comment why it does not run, and do not let it start before `until` (None: at once)."""

    job: int
    text: str
    until: float | None


@dataclass(frozen=True, slots=True)
class Promote:
    """Let a pending job also use the partitions that have cloud nodes."""

    job: int
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PowerUp:
    """Have Slurm start nodes that no job asks for, because the pool keeps so many running."""

    nodes: tuple[str, ...]


Action = Launch | Terminate | Down | SetAddresses | Renew | CommentJob | Promote | PowerUp


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """One line of the decision log: what was considered, what was rejected, why, at which price."""

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
    """Decision of one pass. `state` is the journal after it (before any action's outcome), without the orders that it carried out."""

    actions: tuple[Action, ...]
    records: tuple[DecisionRecord, ...]
    state: State
    next_pass: float | None = None  # earlier than the usual interval: a grace, a backoff or a wait for capacity ends


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """Outcome of an action. For a Launch: instances by node with their addresses, or the error of the first failing call."""

    code: str = ""  # empty: done
    message: str = ""
    instances: Mapping[str, str] = field(default_factory=dict)  # node -> id
    addresses: Mapping[str, str] = field(default_factory=dict)  # node -> IP
