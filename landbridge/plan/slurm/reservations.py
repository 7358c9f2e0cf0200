"""Slurm reservations of Capacity Blocks: nodes of a block accept jobs in its window only.

Outside of it the nodes are in a reservation without users, so that Slurm starts only jobs on them that end in time,
plans jobs for the block's start, and no job waits for a node that cannot be launched.
Source: slurm.schedmd.com/reservations.html (a job starts if its time limit ends before the reservation begins); EC2
User Guide, "Work with Capacity Blocks".
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.instances.capacity import Terms, fallbacks
from landbridge.plan.slurm.nodes import pool_node_names

#: Landbridge owns all reservations with this prefix and deletes those that are not in the file. Without MAINT, which
#: other programs treat as an outage.
PREFIX = "landbridge-block-"


def reservations(environment: Environment) -> list[dict[str, Any]]:
    """Return the role slurm_controller's reservations: name, nodes, start and end (UTC; None: now, or no end)."""
    return [
        {
            "name": f"{PREFIX}{pool.name}-{number}",
            "nodes": hostlist.compress(pool_node_names(pool)),
            "starts": starts.isoformat() if starts is not None else None,
            "ends": ends.isoformat() if ends is not None else None,
        }
        for pool in environment.aws.pools
        for number, (starts, ends) in enumerate(unavailable_windows(pool, environment.region), 1)
    ]


def unavailable_windows(pool: PoolSettings, region: str) -> Iterator[tuple[datetime | None, datetime | None]]:
    """Yield the windows without capacity for a pool, in order. None if the pool has other capacity."""
    all_terms = fallbacks(pool, region)
    if any(terms.kind != "capacity_block" for terms in all_terms):
        return
    windows = sorted(map(_window, all_terms))
    closed_since: datetime | None = None
    for opens, closes in windows:
        if opens != _ALWAYS and (closed_since is None or opens > closed_since):
            yield closed_since, opens
        closed_since = closes if closed_since is None else max(closed_since, closes)
    if closed_since is not None and closed_since != _NEVER:
        yield closed_since, None


_ALWAYS, _NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def _window(terms: Terms) -> tuple[datetime, datetime]:
    """Return the time from the first launch to the end of the last job; an absent end is not an end."""
    return _utc(terms.starts) or _ALWAYS, _utc(terms.leave_by) or _NEVER


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)
