"""Events of a replay, and the start of the next month."""

from datetime import UTC, datetime
from enum import IntEnum
from typing import NamedTuple


class EventKind(IntEnum):
    """Kind of event, in the order of events of one time: those that free GPUs or money come first."""

    JOB_END = 0
    REPAIR = 1  # an on-prem node is up again
    NODE_IDLE = 2  # a node has been idle for the pool's suspend_after
    CAPACITY = 3  # AWS has another number of instances for a pool
    MONTH_START = 4
    BUDGET_RETRY = 5  # jobs that a budget refused are tried again
    PROMOTION = 6  # a job has waited long enough on-prem to burst
    INTERRUPTION = 7  # a node fails, or a spot instance is interrupted


class Event(NamedTuple):
    """Event of the replay, with the number of a job, of a pool or of on-prem nodes, or of a node of it, depending on the
    kind. Of a job's end, `node` is the number of the job's restarts; of a change of capacity, the number of instances."""

    at: float
    kind: EventKind
    job: int = 0
    pool: int = 0
    node: int = 0


def next_month(now: float) -> float:
    """Return the start of the next month, UTC."""
    date = datetime.fromtimestamp(now, UTC)
    year, month = (date.year + 1, 1) if date.month == 12 else (date.year, date.month + 1)
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
