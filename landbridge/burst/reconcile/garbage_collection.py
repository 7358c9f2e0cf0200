"""Instances without a node, nodes without their instance, two instances for a node: what is to be ended, and when.

Bound: `orphan_seconds` and one pass from the first time that all three truths were seen. What Slurm itself has given up goes
at once. A node that a person has taken out of service is theirs.
"""

from collections.abc import Iterable

from landbridge.burst.model import CloudInstance, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.node_states import (
    OUR_REASON,
    is_asked_to_power_down,
    is_down,
    is_powered_down,
    is_set_by_operator,
    is_up,
)
from landbridge.burst.reconcile.observed import ALIVE, REBUILT_GANG, Observed, terminated_at

#: After this, a Down that was cut off in its middle is done again.
DOWN_RETRY_SECONDS = 15.0
#: EC2 says itself that the instance has ended: a second look is enough.
TERMINATED_RECHECK_SECONDS = 15.0


def collect_garbage(observed: Observed, changes: Changes) -> None:
    """Everything that no longer fits together."""
    if observed.ec2 is not None:
        for instance in observed.ec2.instances:
            _instance(observed, changes, instance)
        changes.end((one.id for one in observed.stale), "SUSPENDED", "of an earlier power-up of its node")
        for one in observed.doubtful:
            # Clocks may differ: if it is the node's after all, Slurm will know its address by then.
            bound = observed.policy.orphan_seconds / 2
            if changes.seen_for(f"doubtful:{one.id}", bound) >= bound:
                changes.end([one.id], "SUSPENDED", "older than the jobs that its node starts for", [one.node])
        for name, instances in observed.living.items():
            if len(instances) > 1 and name not in changes.downed:
                _twins(observed, changes, name, instances)
    gone = _ending(observed)
    for name in observed.pools:
        _node(observed, changes, observed.slurm.nodes[name], name in gone)


def _instance(observed: Observed, changes: Changes, instance: CloudInstance) -> None:
    asked = terminated_at(observed.state, instance.id)
    if instance.state == "shutting-down":
        return
    if asked is not None:
        changes.keep(f"ended:{instance.id}")
        if observed.now - asked > observed.policy.settle_seconds:
            changes.end([instance.id], "ORPHANED", "EC2 was asked to end it, and has not", [instance.node])
        else:
            changes.due(asked + observed.policy.settle_seconds + 1)
        return
    if instance.state not in ALIVE:
        changes.end([instance.id], "ORPHANED", "a stopped instance has no use, and its volumes cost", [instance.node])
        return
    node = observed.slurm.nodes.get(instance.node)
    if instance.node not in observed.pools or node is None:
        bound = observed.policy.orphan_seconds
        if changes.seen_for(f"nameless:{instance.id}", bound) >= bound:
            changes.end([instance.id], "ORPHANED", "no node of Slurm has this name", [instance.node])
    elif is_powered_down(node):
        changes.end([instance.id], "SUSPENDED", "Slurm has powered its node down", [instance.node])


def _twins(observed: Observed, changes: Changes, name: str, instances: tuple[CloudInstance, ...]) -> None:
    kept = instance_to_keep(observed, name, instances)
    changes.end((one.id for one in instances if one is not kept), "DUPLICATE", f"{kept.id} is the node's", [name])


def instance_to_keep(observed: Observed, name: str, instances: Iterable[CloudInstance]) -> CloudInstance:
    """The one that Slurm talks to; else the one of the latest launch that succeeded; else the oldest."""
    address = observed.slurm.nodes[name].address

    def rank(one: CloudInstance) -> tuple[bool, float, float, str]:
        attempt = observed.state.attempts.get(one.token)
        good = attempt is not None and attempt.ended is not None and not attempt.code and attempt.gang != REBUILT_GANG
        return (
            not (address and one.address == address),
            -attempt.created_at if attempt is not None and good else 0.0,
            one.launched,
            one.id,
        )

    return min(instances, key=rank)


def _ending(observed: Observed) -> set[str]:
    """Nodes whose instance EC2 shows as ending, and that have no other."""
    shown = {one.node for one in observed.ec2.instances if one.state not in ALIVE} if observed.ec2 else set()
    return {node for node in shown if not observed.has(node)}


def _node(observed: Observed, changes: Changes, node: SlurmNode, ending: bool) -> None:
    if is_powered_down(node) and not is_down(node):
        return
    if is_set_by_operator(node):
        return
    jobs = observed.jobs.get(node.name, ())
    if is_down(node):
        _failed(observed, changes, node)
    elif is_up(node) and observed.ec2 is not None and not observed.has(node.name):
        bound = TERMINATED_RECHECK_SECONDS if ending else observed.policy.orphan_seconds / 2
        if changes.seen_for(f"bare:{node.name}", bound) >= bound:
            changes.down([node.name], "GONE", "its instance is not there any more", jobs)


def _failed(observed: Observed, changes: Changes, node: SlurmNode) -> None:
    """A node that is down, and not by a person: ended for good, so that it can be started again."""
    if "POWERING_DOWN" in node.states or node.name in observed.held:
        return
    ours = node.reason.lower().startswith(OUR_REASON)
    soon = (ours or is_powered_down(node) or not observed.has(node.name)) and not is_asked_to_power_down(node)
    bound = DOWN_RETRY_SECONDS if soon else observed.policy.orphan_seconds
    if changes.seen_for(f"down:{node.name}", bound) >= bound:
        why = node.reason.removeprefix(OUR_REASON).strip() or "it is down"
        changes.down([node.name], "ORPHANED", why)
