"""Instances without a node, nodes without their instance, two instances for a node: what is to be ended, and when.

Bound: `orphan_seconds` and one pass from the first time that all three truths were seen. What Slurm itself has given up goes
at once. A node that a person has taken out of service is theirs.
"""

from collections.abc import Iterable

from landbridge.burst.model import Instance, Node
from landbridge.burst.reconcile.changes import Draft
from landbridge.burst.reconcile.node_states import OUR_REASON, asked_to_leave, by_a_person, is_down, is_up, leaving
from landbridge.burst.reconcile.observed import ADOPTED, ALIVE, Survey, ended

#: After this, a Down that was cut off in its middle is done again.
CUT_OFF = 15.0
#: EC2 says itself that the instance has ended: a second look is enough.
SURE = 15.0


def reap(found: Survey, draft: Draft) -> None:
    """Everything that no longer fits together."""
    if found.ec2 is not None:
        for instance in found.ec2.instances:
            _instance(found, draft, instance)
        draft.end((one.id for one in found.stale), "SUSPENDED", "of an earlier power-up of its node")
        for one in found.doubtful:
            # Clocks may differ: if it is the node's after all, Slurm will know its address by then.
            bound = found.policy.orphan_seconds / 2
            if draft.seen_for(f"doubtful:{one.id}", bound) >= bound:
                draft.end([one.id], "SUSPENDED", "older than the jobs that its node starts for", [one.node])
        for name, instances in found.living.items():
            if len(instances) > 1 and name not in draft.downed:
                _twins(found, draft, name, instances)
    gone = _ending(found)
    for name in found.pools:
        _node(found, draft, found.slurm.nodes[name], name in gone)


def _instance(found: Survey, draft: Draft, instance: Instance) -> None:
    asked = ended(found.state, instance.id)
    if instance.state == "shutting-down":
        return
    if asked is not None:
        draft.keep(f"ended:{instance.id}")
        if found.now - asked > found.policy.settle_seconds:
            draft.end([instance.id], "ORPHANED", "EC2 was asked to end it, and has not", [instance.node])
        else:
            draft.due(asked + found.policy.settle_seconds + 1)
        return
    if instance.state not in ALIVE:
        draft.end([instance.id], "ORPHANED", "a stopped instance has no use, and its volumes cost", [instance.node])
        return
    node = found.slurm.nodes.get(instance.node)
    if instance.node not in found.pools or node is None:
        bound = found.policy.orphan_seconds
        if draft.seen_for(f"nameless:{instance.id}", bound) >= bound:
            draft.end([instance.id], "ORPHANED", "no node of Slurm has this name", [instance.node])
    elif leaving(node):
        draft.end([instance.id], "SUSPENDED", "Slurm has powered its node down", [instance.node])


def _twins(found: Survey, draft: Draft, name: str, instances: tuple[Instance, ...]) -> None:
    kept = keep(found, name, instances)
    draft.end((one.id for one in instances if one is not kept), "DUPLICATE", f"{kept.id} is the node's", [name])


def keep(found: Survey, name: str, instances: Iterable[Instance]) -> Instance:
    """The one that Slurm talks to; else the one of the latest launch that succeeded; else the oldest."""
    address = found.slurm.nodes[name].address

    def rank(one: Instance) -> tuple[bool, float, float, str]:
        attempt = found.state.attempts.get(one.token)
        good = attempt is not None and attempt.ended is not None and not attempt.code and attempt.gang != ADOPTED
        return (
            not (address and one.address == address),
            -attempt.made if attempt is not None and good else 0.0,
            one.launched,
            one.id,
        )

    return min(instances, key=rank)


def _ending(found: Survey) -> set[str]:
    """Nodes whose instance EC2 shows as ending, and that have no other."""
    shown = {one.node for one in found.ec2.instances if one.state not in ALIVE} if found.ec2 else set()
    return {node for node in shown if not found.has(node)}


def _node(found: Survey, draft: Draft, node: Node, ending: bool) -> None:
    if leaving(node) and not is_down(node):
        return
    if by_a_person(node):
        return
    jobs = found.jobs.get(node.name, ())
    if is_down(node):
        _failed(found, draft, node)
    elif is_up(node) and found.ec2 is not None and not found.has(node.name):
        bound = SURE if ending else found.policy.orphan_seconds / 2
        if draft.seen_for(f"bare:{node.name}", bound) >= bound:
            draft.down([node.name], "GONE", "its instance is not there any more", jobs)


def _failed(found: Survey, draft: Draft, node: Node) -> None:
    """A node that is down, and not by a person: ended for good, so that it can be started again."""
    if "POWERING_DOWN" in node.states or node.name in found.held:
        return
    ours = node.reason.lower().startswith(OUR_REASON)
    soon = (ours or leaving(node) or not found.has(node.name)) and not asked_to_leave(node)
    bound = CUT_OFF if soon else found.policy.orphan_seconds
    if draft.seen_for(f"down:{node.name}", bound) >= bound:
        why = node.reason.removeprefix(OUR_REASON).strip() or "it is down"
        draft.down([node.name], "ORPHANED", why)
