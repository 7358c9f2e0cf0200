"""Keeps of nodes: Slurm does not suspend a kept node when it is idle (SuspendExcNodes), and the controller does not move it.

Its time without a job is the launching account's, its lease is renewed as that of other idle nodes, and a hard budget ends
it: an explicit power-down ignores SuspendExcNodes (Slurm 23.11 to 26.05, power_save.c, _do_power_work). A keep ends with
its time or with the power-down of its node, whichever is first.
"""

from dataclasses import replace

from landbridge.burst.model import ActionOutcome, KeepNodes, NodeKeep, PoolPolicy, State
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.node_states import is_down, is_powered_down
from landbridge.burst.reconcile.observed import Observed
from landbridge.timestamps import iso


def keep_nodes(observed: Observed, changes: Changes) -> None:
    """End the keeps that have expired, and exclude kept nodes from the suspension by Slurm.

    Slurm forgets a change of SuspendExcNodes when its configuration is read again, so each pass checks it while a keep
    lasts, and until Slurm has released the last node.
    """
    for node, keep in observed.state.keeps.items():
        end = _end(observed, changes, node, keep)
        if end:
            pool = observed.pools[node].name if node in observed.pools else ""
            changes.record("keep-ended", text=f"{end}; kept by {keep.by}: {keep.reason}", nodes=[node], pool=pool)
        else:
            changes.keeps[node] = keep
            changes.schedule_pass(keep.until)
    written = observed.state.keeps_in_slurm
    if changes.keeps or written:
        owned = frozenset(name for name, pool in observed.pools.items() if is_released_when_idle(pool))
        changes.keep_action = KeepNodes(tuple(sorted(owned & changes.keeps.keys())), owned)
        changes.keeps_in_slurm = {**dict.fromkeys(changes.keeps, observed.now), **written}


def is_released_when_idle(pool: PoolPolicy) -> bool:
    """Return whether Slurm suspends an idle node of the pool; a pool whose single node is in `min_nodes` always keeps it."""
    return not pool.min_nodes >= pool.max_nodes == 1


def record_keeps(state: State, action: KeepNodes, outcome: ActionOutcome) -> State:
    """Return the journal state after the action: without the nodes that Slurm has released."""
    if outcome.code:
        return state
    nodes = {node: at for node, at in state.keeps_in_slurm.items() if node in action.nodes}
    return replace(state, keeps_in_slurm=nodes)


def _end(observed: Observed, changes: Changes, node: str, keep: NodeKeep) -> str:
    """Return the reason why a keep is over; empty if it lasts."""
    if keep.until <= observed.now:
        return f"it ended at {iso(keep.until)}"
    if node in changes.down_reasons:
        return " ".join(changes.down_reasons[node])
    slurm_node = observed.slurm.nodes.get(node)
    if slurm_node is None or node not in observed.pools:
        return "no node of the pools has this name"
    return "its node is powered down" if is_powered_down(slurm_node) or is_down(slurm_node) else ""
