"""Machines that EC2 starts and that never join: each costs until ResumeTimeout, and Slurm tries its job again at once.

The job is told, and held back for longer each time. After a few in a row the pool's breaker opens, as it does for settings
that EC2 refuses: a person has to look at the image, the user data or the link. Where a node of a later launch joins, all is
forgotten; when the breaker's time is over, one start is let through and the others wait for how it ends.
"""

from collections.abc import Iterator
from dataclasses import replace

from landbridge.burst.model import Attempt, Breaker, Node
from landbridge.burst.reconcile.changes import Draft
from landbridge.burst.reconcile.node_states import is_down, is_up
from landbridge.burst.reconcile.observed import ADOPTED, Survey

#: The breaker's code, and the reason that slurmctld itself gives such a node.
BOOT, SLURMS_REASON = "BOOT", ("resumetimeout", "resume timeout")
#: Launches in a row of which a node did not join, until the breaker opens.
ENOUGH = 3


def judge(found: Survey, draft: Draft) -> None:
    """Note launches that did not come up, and open or close the breakers of their pools."""
    late: dict[str, list[tuple[Attempt, str]]] = {}
    joined: dict[str, float] = {}
    for attempt in found.state.attempts.values():
        if attempt.gang == ADOPTED or attempt.pool not in found.policy.pools:
            continue
        for node in _nodes(found, attempt):
            if is_down(node) and node.reason.lower().startswith(SLURMS_REASON):
                late.setdefault(attempt.pool, []).append((attempt, node.name))
            elif is_up(node):
                joined[attempt.pool] = max(attempt.made, joined.get(attempt.pool, attempt.made))
    for pool in found.policy.pools:
        _pool(found, draft, pool, late.get(pool, []), joined.get(pool))


def waits_for_a_probe(found: Survey, breaker: Breaker, pool: str) -> bool:
    """Whether a start that the open breaker let through is still booting."""
    return breaker.code == BOOT and any(
        attempt.pool == pool and attempt.made >= breaker.until and any(found.rising(node) for node in attempt.instances)
        for attempt in found.state.attempts.values()
    )


def prefix(pool: str) -> str:
    """What the journal notes begin with."""
    return f"unbooted:{pool}:"


def _nodes(found: Survey, attempt: Attempt) -> Iterator[Node]:
    """The nodes that have, or just had, an instance of the attempt."""
    for name, instance in attempt.instances.items():
        node = found.slurm.nodes.get(name)
        if node is not None and all(one.id == instance for one in found.living.get(name, ())):
            yield node


def _pool(found: Survey, draft: Draft, pool: str, late: list[tuple[Attempt, str]], joined: float | None) -> None:
    start = prefix(pool)
    noted = {key: made for key, made in found.state.suspects.items() if key.startswith(start)}
    fresh = {start + attempt.token: attempt for attempt, _ in late if start + attempt.token not in noted}
    for attempt, node in late:
        if start + attempt.token in fresh:
            _hold_back(found, draft, attempt, node)
    noted |= {key: attempt.made for key, attempt in fresh.items()}
    last = sorted((made, key) for key, made in noted.items() if joined is None or made > joined)[-ENOUGH:]
    draft.suspects.update((key, made) for made, key in last)
    breaker = draft.state.breakers.get(pool)
    if len(last) >= ENOUGH and any(key in fresh for _, key in last):
        nodes = sorted({node for attempt, _ in late for node in attempt.nodes})
        text = f"the last {ENOUGH} launches did not join Slurm in time, such as {nodes[0]}: look at its console output"
        own = breaker if breaker is not None and breaker.code == BOOT else None
        opened = Breaker(
            code=BOOT,
            message=text,
            since=own.since if own else found.now,
            count=own.count + 1 if own else 1,
            until=found.now + found.policy.breaker_seconds,
        )
        _set(draft, pool, opened)
        draft.record("breaker", BOOT, text, nodes, pool=pool)
    elif breaker is not None and breaker.code == BOOT and not last:
        _set(draft, pool, None)


def _hold_back(found: Survey, draft: Draft, attempt: Attempt, node: str) -> None:
    """Tell the jobs that the node was started for: all of a gang, of a batch the node's own."""
    own = found.resumed_for.get(node)
    for number in attempt.jobs:
        if attempt.whole or number == own:
            draft.back_off(number, BOOT, f"the machine of {node} did not join Slurm in time")
    draft.due(found.now + 2)  # the jobs are seen and told then


def _set(draft: Draft, pool: str, breaker: Breaker | None) -> None:
    others = {name: one for name, one in draft.state.breakers.items() if name != pool}
    draft.state = replace(draft.state, breakers=others if breaker is None else {**others, pool: breaker})
