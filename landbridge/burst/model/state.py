"""What the journal holds: what was asked for, launched, held and promised, and which offerings and pools to leave alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

OrderKind = Literal["resume", "suspend", "resume-fail", "wake"]


@dataclass(frozen=True, slots=True)
class SlurmOrder:
    """What a shim wrote down: one call of ResumeProgram, SuspendProgram or ResumeFailProgram."""

    seq: int
    kind: OrderKind
    nodes: tuple[str, ...]
    at: float
    jobs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # resume file: job -> nodes to start


@dataclass(frozen=True, slots=True)
class Attempt:
    """One launch call, written down before it is made. A repeated call has the same token and the same parameters."""

    token: str
    gang: str  # Gang.key
    pool: str
    offering: str  # Place.key
    nodes: tuple[str, ...]
    jobs: tuple[int, ...]
    account: str
    whole: bool
    lease: float
    created_at: float
    hold_usd: float
    usd_hour: float
    data_class: str = ""
    ended: float | None = None  # None: nobody knows yet how the call ended
    code: str = ""  # empty: launched
    instances: Mapping[str, str] = field(default_factory=dict)  # node -> instance id


@dataclass(frozen=True, slots=True)
class InsufficientCapacity:
    """An offering that had no capacity: not to be asked for `nodes` or more before `until`. `tries` in a row make it longer.

    EC2 refuses a gang that it could give a part of, so fewer nodes may be asked for meanwhile.
    """

    until: float
    tries: int
    code: str
    nodes: int = 1


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """A pool that a person has to look at: nothing is launched in it until it is reset, or until `until` for one probe."""

    code: str
    message: str
    since: float
    count: int
    until: float


@dataclass(frozen=True, slots=True)
class BudgetHold:
    """Money that a launch may cost at worst, held until its instances have ended. By token."""

    account: str
    pool: str
    month: str  # 2026-11, UTC, of the launch
    usd: float
    usd_hour: float
    created_at: float


@dataclass(frozen=True, slots=True)
class Backoff:
    """A job that could not be served: what it is told, and when it may be tried again. `reported`: Slurm has been told."""

    until: float
    tries: int
    code: str
    text: str
    reported: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The journal, read. An empty one is right too: the next pass converges from Slurm and EC2 alone."""

    orders: tuple[SlurmOrder, ...] = ()  # not yet dealt with
    attempts: Mapping[str, Attempt] = field(default_factory=dict)  # by token
    insufficient_capacity: Mapping[str, InsufficientCapacity] = field(default_factory=dict)  # by Place.key
    breakers: Mapping[str, CircuitBreaker] = field(default_factory=dict)  # by pool
    holds: Mapping[str, BudgetHold] = field(default_factory=dict)  # by token
    spent: Mapping[tuple[str, str, str], float] = field(default_factory=dict)  # (month, account, pool) -> USD
    backoffs: Mapping[int, Backoff] = field(default_factory=dict)  # by job
    drained: Mapping[str, str] = field(default_factory=dict)  # pool -> why, by `landbridge burst drain`
    suspects: Mapping[str, float] = field(default_factory=dict)  # "what:id" -> first seen so, for graces
    throttled_until: float = 0.0
