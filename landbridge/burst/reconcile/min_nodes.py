"""Nodes that are kept running without a job: Slurm keeps those that run (SuspendExcNodes), this starts those that are missing."""

from collections.abc import Mapping

from landbridge.burst.model import PoolPolicy, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.gangs import batch_gang
from landbridge.burst.reconcile.node_states import is_asked_to_power_down, is_powering_up, is_up
from landbridge.burst.reconcile.observed import Observed
from landbridge.burst.reconcile.offerings import choose

#: A pool's kept nodes are asked for once in that time: what was refused for money or a person's reasons is not asked at once again.
MIN_NODES_RETRY_SECONDS = 300.0
_NOT_OURS = frozenset({"DOWN", "DRAIN", "FAIL", "POWERING_DOWN", "POWER_UP", "MAINTENANCE"})


def start_min_nodes(observed: Observed, changes: Changes, used: Mapping[str, int]) -> None:
    """Power up what is missing of each pool, as far as it can be had now; `used` are living instances by offering."""
    if observed.ec2 is None:
        return
    for pool in observed.policy.pools.values():
        if pool.min_nodes:
            _keep(observed, changes, pool, used)


def _keep(observed: Observed, changes: Changes, pool: PoolPolicy, used: Mapping[str, int]) -> None:
    asked = f"warm:{pool.name}"
    before = changes.state.suspects.get(asked)
    if before is not None and observed.now < before + MIN_NODES_RETRY_SECONDS:
        changes.keep(asked)
        changes.due(before + MIN_NODES_RETRY_SECONDS)
        return
    breaker = changes.state.breakers.get(pool.name)
    if pool.name in changes.state.drained or (breaker is not None and observed.now < breaker.until):
        return
    nodes = sorted(
        (node for name, node in observed.slurm.nodes.items() if observed.pools.get(name) is pool), key=_number
    )
    missing = pool.min_nodes - sum(_kept(node) for node in nodes)
    wanted = tuple(node.name for node in nodes if _off(node) and node.name not in changes.downed)[: max(0, missing)]
    if not wanted:
        return
    gang = batch_gang(asked, pool.name, "", wanted, ())
    choice = choose(gang, pool, changes.state, observed.policy, changes.ledger, used, observed.now)
    if choice.offering is None:
        for offering in pool.offerings:
            changes.due(offering.opens)
        return
    changes.suspects[asked] = observed.now
    changes.power_up(wanted[: choice.room], pool.name, choice.offering.key)


def _number(node: SlurmNode) -> tuple[int, str]:
    return len(node.name), node.name


def _kept(node: SlurmNode) -> bool:
    """It runs, or is about to; one that is to leave will not be here."""
    return (is_up(node) or is_powering_up(node) or "POWER_UP" in node.states) and not is_asked_to_power_down(node)


def _off(node: SlurmNode) -> bool:
    return "POWERED_DOWN" in node.states and node.states.isdisjoint(_NOT_OURS)
