"""Nodes that are kept running without a job: Slurm keeps those that run (SuspendExcNodes), this starts those that are missing."""

from collections.abc import Mapping

from landbridge.burst.model import Node, Pool
from landbridge.burst.reconcile.changes import Draft
from landbridge.burst.reconcile.gangs import batch_gang
from landbridge.burst.reconcile.node_states import asked_to_leave, is_up, rising
from landbridge.burst.reconcile.observed import Survey
from landbridge.burst.reconcile.offerings import choose

#: A pool's kept nodes are asked for once in that time: what was refused for money or a person's reasons is not asked at once again.
AGAIN = 300.0
_NOT_OURS = frozenset({"DOWN", "DRAIN", "FAIL", "POWERING_DOWN", "POWER_UP", "MAINTENANCE"})


def keep_warm(found: Survey, draft: Draft, used: Mapping[str, int]) -> None:
    """Power up what is missing of each pool, as far as it can be had now; `used` are living instances by place."""
    if found.ec2 is None:
        return
    for pool in found.policy.pools.values():
        if pool.min_nodes:
            _keep(found, draft, pool, used)


def _keep(found: Survey, draft: Draft, pool: Pool, used: Mapping[str, int]) -> None:
    asked = f"warm:{pool.name}"
    before = draft.state.suspects.get(asked)
    if before is not None and found.now < before + AGAIN:
        draft.keep(asked)
        draft.due(before + AGAIN)
        return
    breaker = draft.state.breakers.get(pool.name)
    if pool.name in draft.state.drained or (breaker is not None and found.now < breaker.until):
        return
    nodes = sorted((node for name, node in found.slurm.nodes.items() if found.pools.get(name) is pool), key=_number)
    missing = pool.min_nodes - sum(_kept(node) for node in nodes)
    wanted = tuple(node.name for node in nodes if _off(node) and node.name not in draft.downed)[: max(0, missing)]
    if not wanted:
        return
    gang = batch_gang(asked, pool.name, "", wanted, ())
    choice = choose(gang, pool, draft.state, found.policy, draft.ledger, used, found.now)
    if choice.place is None:
        for place in pool.places:
            draft.due(place.opens)
        return
    draft.suspects[asked] = found.now
    draft.power_up(wanted[: choice.room], pool.name, choice.place.key)


def _number(node: Node) -> tuple[int, str]:
    return len(node.name), node.name


def _kept(node: Node) -> bool:
    """It runs, or is about to; one that is to leave will not be here."""
    return (is_up(node) or rising(node) or "POWER_UP" in node.states) and not asked_to_leave(node)


def _off(node: Node) -> bool:
    return "POWERED_DOWN" in node.states and node.states.isdisjoint(_NOT_OURS)
