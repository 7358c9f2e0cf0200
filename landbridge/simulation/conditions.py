"""Conditions of a replay: failures, spot interruptions, AWS's capacity, fair share. By default none of them applies."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CapacityStep:
    """Number of instances that AWS has for a pool from `at` on, in seconds since 1970; None: from the start."""

    pool: str
    nodes: int
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a replay.

    `mtbf_hours`: mean time between failures of one node at either site; a failure ends the node's jobs, and an on-prem
    node is down for `repair_hours`. `spot_interruptions`: interruptions of one spot instance in an hour. Both are
    Poisson processes, drawn with `seed`. A job that was ended starts again from its last checkpoint: one is written
    each `checkpoint_seconds` of run time (None: it starts from the beginning), and the restart takes `restart_seconds`.
    After `max_restarts` a job is given up. `half_life_hours`: half-life of the usage in the order of fair share; None:
    first come first served. `shares`: shares of the accounts; one without an entry has 1.
    """

    mtbf_hours: float | None = None
    repair_hours: float = 24.0
    spot_interruptions: float = 0.0
    checkpoint_seconds: float | None = None
    restart_seconds: float = 0.0
    max_restarts: int = 50
    capacity: tuple[CapacityStep, ...] = ()
    half_life_hours: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 1

    @property
    def has_interruptions(self) -> bool:
        """True if jobs may be ended before their end."""
        return self.mtbf_hours is not None or self.spot_interruptions > 0


NO_CONDITIONS = Conditions()
