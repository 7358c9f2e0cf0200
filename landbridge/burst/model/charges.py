"""Charges: the cost of an instance's time that is over, by day and by the job or the use that pays for it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ChargeKind(StrEnum):
    """Use of an instance's time. `boot`: from the launch until the node registers, also if a job waits for it."""

    JOB = "job"
    BOOT = "boot"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class ChargeKey:
    """Fields by which charges are added up: the day in UTC, such as 2026-11-25; `job` is 0 for time without a job, and
    `instance_type` is empty if it is not known."""

    day: str
    pool: str
    account: str
    job: int
    kind: ChargeKind
    instance_type: str


@dataclass(frozen=True, slots=True)
class Charge:
    """Cost of some node-seconds in USD. `unpriced_seconds`: those of them whose price is not known; they are not in
    `usd`.

    Jobs that share a node have the same shares of its node-seconds, so that the sum is the time of the instances.
    """

    key: ChargeKey
    node_seconds: float
    usd: float
    unpriced_seconds: float = 0.0


def add_up(charges: Iterable[Charge]) -> list[Charge]:
    """Return one charge for each key, in the order of the keys."""
    seconds, usd, unpriced = Counter[ChargeKey](), Counter[ChargeKey](), Counter[ChargeKey]()
    for charge in charges:
        seconds[charge.key] += charge.node_seconds  # type: ignore[assignment]
        usd[charge.key] += charge.usd  # type: ignore[assignment]
        unpriced[charge.key] += charge.unpriced_seconds  # type: ignore[assignment]
    keys = sorted(seconds, key=lambda key: (key.day, key.pool, key.account, key.job, key.kind, key.instance_type))
    return [Charge(key, seconds[key], usd[key], unpriced[key]) for key in keys]
