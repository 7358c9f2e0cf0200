"""Power-up of the missing nodes of pools with `min_nodes`, which run without a job. Slurm keeps them (SuspendExcNodes)."""

from collections.abc import Mapping

from landbridge.burst.model import PoolPolicy, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.gangs import batch_gang
from landbridge.burst.reconcile.launching.offerings import choose
from landbridge.burst.reconcile.node_states import is_asked_to_power_down, is_powering_up, is_up
from landbridge.burst.reconcile.observed import Observed

#: A pool's missing nodes are requested once in this time: a refusal (budget, breaker) is not repeated at once.
MIN_NODES_RETRY_SECONDS = 300.0
_UNUSABLE_STATES = frozenset({"DOWN", "DRAIN", "FAIL", "POWERING_DOWN", "POWER_UP", "MAINTENANCE"})


def start_min_nodes(observed: Observed, changes: Changes, used: Mapping[str, int]) -> None:
    """Power up the missing nodes of each pool, as far as an offering can launch them; `used`: instances by offering."""
    if observed.ec2 is None:
        return
    for pool in observed.policy.pools.values():
        if pool.min_nodes:
            _start_pool(observed, changes, pool, used)


def _start_pool(observed: Observed, changes: Changes, pool: PoolPolicy, used: Mapping[str, int]) -> None:
    last_request = changes.state.min_nodes_requested_at.get(pool.name)
    if last_request is not None and observed.now < last_request + MIN_NODES_RETRY_SECONDS:
        changes.min_nodes_requested_at[pool.name] = last_request
        changes.schedule_pass(last_request + MIN_NODES_RETRY_SECONDS)
        return
    breaker = changes.state.breakers.get(pool.name)
    if pool.name in changes.state.drained or (breaker is not None and observed.now < breaker.until):
        return
    nodes = sorted(
        (node for name, node in observed.slurm.nodes.items() if observed.pools.get(name) is pool), key=_number
    )
    missing = pool.min_nodes - sum(_runs_or_starts(node) for node in nodes)
    available = [node.name for node in nodes if _is_available(node) and node.name not in changes.downed]
    names = tuple(available[: max(0, missing)])
    if not names:
        return
    gang = batch_gang(f"min-nodes/{pool.name}", pool.name, "", names, ())
    choice = choose(gang, pool, changes.state, observed.policy, changes.ledger, used, observed.now)
    if choice.offering is None:
        for offering in pool.offerings:
            changes.schedule_pass(offering.opens)
        return
    changes.min_nodes_requested_at[pool.name] = observed.now
    changes.power_up(names[: choice.room], pool.name, choice.offering.key)


def _number(node: SlurmNode) -> tuple[int, str]:
    return len(node.name), node.name


def _runs_or_starts(node: SlurmNode) -> bool:
    """Return whether the node is up or powers up, without a pending power-down."""
    return (is_up(node) or is_powering_up(node) or "POWER_UP" in node.states) and not is_asked_to_power_down(node)


def _is_available(node: SlurmNode) -> bool:
    return "POWERED_DOWN" in node.states and node.states.isdisjoint(_UNUSABLE_STATES)
