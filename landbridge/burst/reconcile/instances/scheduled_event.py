"""Scheduled event of an instance that may end its jobs."""

from landbridge.burst.model import BurstPolicy, CloudInstance, InstanceStatus, State
from landbridge.timestamps import iso


def scheduled_event(instance: CloudInstance, status: InstanceStatus, state: State, policy: BurstPolicy) -> str:
    """Return the text of an event that may end a job on the instance; empty if there is none.

    An event of a Capacity Block's instance at or after the time at which the block closes for jobs is the block's end.
    """
    if not status.event or status.event_at is None:
        return status.event
    closes = _closes(instance, state, policy)
    return "" if closes is not None and status.event_at >= closes else f"{status.event} at {iso(status.event_at)}"


def _closes(instance: CloudInstance, state: State, policy: BurstPolicy) -> float | None:
    """Return the time at which the instance's Capacity Block closes for jobs; None for other instances."""
    if instance.market != "capacity-block":
        return None
    pool, attempt = policy.pool_of(instance.node), state.attempts.get(instance.token)
    blocks = [block for block in pool.offerings if block.market == "capacity-block"] if pool is not None else []
    launched = [block for block in blocks if attempt is not None and block.key == attempt.offering]
    similar = [b for b in blocks if (b.subnet, b.instance_type) == (instance.subnet, instance.type)]
    return min((block.closes for block in launched or similar if block.closes is not None), default=None)
