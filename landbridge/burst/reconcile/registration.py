"""Machines that EC2 starts and that never join: each costs until ResumeTimeout, and Slurm tries its job again at once.

The job is told, and held back for longer each time. After a few in a row the pool's breaker opens, as it does for settings
that EC2 refuses: a person has to look at the image, the user data or the link. Where a node of a later launch joins, all is
forgotten; when the breaker's time is over, one start is let through and the others wait for how it ends.
"""

from collections.abc import Iterator
from dataclasses import replace

from landbridge.burst.model import Attempt, CircuitBreaker, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.node_states import is_down, is_up
from landbridge.burst.reconcile.observed import REBUILT_GANG, Observed

#: The breaker's code, and the reason that slurmctld itself gives such a node.
BOOT_CODE, SLURMS_REASON = "BOOT", ("resumetimeout", "resume timeout")
#: Launches in a row of which a node did not join, until the breaker opens.
LATE_LAUNCHES_TO_OPEN_BREAKER = 3


def update_boot_breakers(observed: Observed, changes: Changes) -> None:
    """Note launches that did not come up, and open or close the breakers of their pools."""
    late: dict[str, list[tuple[Attempt, str]]] = {}
    joined: dict[str, float] = {}
    for attempt in observed.state.attempts.values():
        if attempt.gang == REBUILT_GANG or attempt.pool not in observed.policy.pools:
            continue
        for node in _nodes(observed, attempt):
            if is_down(node) and node.reason.lower().startswith(SLURMS_REASON):
                late.setdefault(attempt.pool, []).append((attempt, node.name))
            elif is_up(node):
                joined[attempt.pool] = max(attempt.created_at, joined.get(attempt.pool, attempt.created_at))
    for pool in observed.policy.pools:
        _pool(observed, changes, pool, late.get(pool, []), joined.get(pool))


def waits_for_a_probe(observed: Observed, breaker: CircuitBreaker, pool: str) -> bool:
    """Whether a start that the open breaker let through is still booting."""
    return breaker.code == BOOT_CODE and any(
        attempt.pool == pool
        and attempt.created_at >= breaker.until
        and any(observed.is_powering_up(node) for node in attempt.instances)
        for attempt in observed.state.attempts.values()
    )


def prefix(pool: str) -> str:
    """What the journal notes begin with."""
    return f"unbooted:{pool}:"


def _nodes(observed: Observed, attempt: Attempt) -> Iterator[SlurmNode]:
    """The nodes that have, or just had, an instance of the attempt."""
    for name, instance in attempt.instances.items():
        node = observed.slurm.nodes.get(name)
        if node is not None and all(one.id == instance for one in observed.living.get(name, ())):
            yield node


def _pool(
    observed: Observed, changes: Changes, pool: str, late: list[tuple[Attempt, str]], joined: float | None
) -> None:
    start = prefix(pool)
    noted = {key: made for key, made in observed.state.suspects.items() if key.startswith(start)}
    fresh = {start + attempt.token: attempt for attempt, _ in late if start + attempt.token not in noted}
    for attempt, node in late:
        if start + attempt.token in fresh:
            _hold_back(observed, changes, attempt, node)
    noted |= {key: attempt.created_at for key, attempt in fresh.items()}
    last = sorted((made, key) for key, made in noted.items() if joined is None or made > joined)[
        -LATE_LAUNCHES_TO_OPEN_BREAKER:
    ]
    changes.suspects.update((key, made) for made, key in last)
    breaker = changes.state.breakers.get(pool)
    if len(last) >= LATE_LAUNCHES_TO_OPEN_BREAKER and any(key in fresh for _, key in last):
        nodes = sorted({node for attempt, _ in late for node in attempt.nodes})
        text = f"the last {LATE_LAUNCHES_TO_OPEN_BREAKER} launches did not join Slurm in time, such as {nodes[0]}: look at its console output"
        own = breaker if breaker is not None and breaker.code == BOOT_CODE else None
        opened = CircuitBreaker(
            code=BOOT_CODE,
            message=text,
            since=own.since if own else observed.now,
            count=own.count + 1 if own else 1,
            until=observed.now + observed.policy.breaker_seconds,
        )
        _set(changes, pool, opened)
        changes.record("breaker", BOOT_CODE, text, nodes, pool=pool)
    elif breaker is not None and breaker.code == BOOT_CODE and not last:
        _set(changes, pool, None)


def _hold_back(observed: Observed, changes: Changes, attempt: Attempt, node: str) -> None:
    """Tell the jobs that the node was started for: all of a gang, of a batch the node's own."""
    own = observed.resumed_for.get(node)
    for number in attempt.jobs:
        if attempt.whole or number == own:
            changes.back_off(number, BOOT_CODE, f"the machine of {node} did not join Slurm in time")
    changes.due(observed.now + 2)  # the jobs are seen and told then


def _set(changes: Changes, pool: str, breaker: CircuitBreaker | None) -> None:
    others = {name: one for name, one in changes.state.breakers.items() if name != pool}
    changes.state = replace(changes.state, breakers=others if breaker is None else {**others, pool: breaker})
