"""Garbage collection of orphans, of nodes without an instance and of duplicate instances of a node.

Bound: `orphan_seconds` and one pass after Slurm, EC2 and the journal have shown the condition for the first time.
Instances of nodes that Slurm has powered down are terminated at once, by the journal if EC2 does not show them. A node
that slurmctld hears is not gone, however long EC2 does not show its instance: its answers are eventually consistent,
without a bound. A node that an operator has drained or set down is not changed: Slurm does not suspend it either
(SuspendExcStates). A node that a program has drained or set down is powered down when it has no job, so that the next
job gets another instance: at once if its health checks report a fault of the machine, whose cost is for nothing, else
after `orphan_seconds`, because a mount or a service may come back. A job that has its nodes but has not started is
requeued.
"""

from collections.abc import Iterable

from landbridge.burst.model import CloudInstance, ObservationKind, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.instances.scheduled_event import scheduled_event
from landbridge.burst.reconcile.node_states import (
    OUR_REASON,
    has_machine_fault,
    has_unexpected_reboot,
    is_asked_to_power_down,
    is_down,
    is_drained,
    is_heard,
    is_powered_down,
    is_set_by_operator,
    is_unhealthy,
    is_up,
)
from landbridge.burst.reconcile.observed import ALIVE, REBUILT_GANG, Observed

#: A Down action of which only the first command was executed is repeated after this time.
DOWN_RETRY_SECONDS = 15.0
#: Time after which a node is set down whose instance EC2 shows as ending: two passes.
TERMINATED_RECHECK_SECONDS = 15.0


def collect_garbage(observed: Observed, changes: Changes) -> None:
    """Terminate instances and set down nodes that do not belong together."""
    if observed.ec2 is not None:
        for instance in observed.ec2.instances:
            _check_instance(observed, changes, instance)
        stale = (instance.id for instance in observed.stale)
        changes.terminate(stale, "SUSPENDED", "of an earlier power-up of its node")
        for instance in observed.doubtful:
            # Clocks may differ: if the instance belongs to the node, Slurm has its address by then.
            bound = observed.policy.orphan_seconds / 2
            if changes.seconds_seen(ObservationKind.INSTANCE_OLDER_THAN_JOBS, instance.id, bound) >= bound:
                text = "older than the jobs that its node starts for"
                changes.terminate([instance.id], "SUSPENDED", text, [instance.node])
        _terminate_hidden(observed, changes)
        for name, instances in observed.living.items():
            if len(instances) > 1 and name not in changes.downed:
                _terminate_duplicates(observed, changes, name, instances)
    without_instance = _nodes_of_ending_instances(observed)
    for name in observed.pools:
        _check_node(observed, changes, observed.slurm.nodes[name], name in without_instance)


def _check_instance(observed: Observed, changes: Changes, instance: CloudInstance) -> None:
    requested_at = observed.state.terminated_at.get(instance.id)
    if instance.state == "shutting-down":
        return
    if requested_at is not None:
        changes.terminated_at[instance.id] = requested_at
        if observed.now - requested_at > observed.policy.settle_seconds:
            text = "EC2 was asked to terminate it, and it still runs"
            changes.terminate([instance.id], "ORPHANED", text, [instance.node])
        else:
            changes.schedule_pass(requested_at + observed.policy.settle_seconds + 1)
        return
    if instance.state not in ALIVE:
        changes.terminate([instance.id], "ORPHANED", "it is stopped, and its volumes cost money", [instance.node])
        return
    node = observed.slurm.nodes.get(instance.node)
    if instance.node not in observed.pools or node is None:
        bound = observed.policy.orphan_seconds
        if changes.seconds_seen(ObservationKind.INSTANCE_WITHOUT_NODE, instance.id, bound) >= bound:
            changes.terminate([instance.id], "ORPHANED", "no node of Slurm has this name", [instance.node])
    elif is_powered_down(node):
        changes.terminate([instance.id], "SUSPENDED", "Slurm has powered its node down", [instance.node])


def _terminate_hidden(observed: Observed, changes: Changes) -> None:
    """Terminate the instances of powered-down nodes that EC2 does not show: else one would register its node again."""
    shown = {instance.id for instance in observed.ec2.instances} if observed.ec2 else set()
    for attempt in observed.state.attempts.values():
        if attempt.ended is None or observed.now - attempt.ended <= observed.policy.settle_seconds:
            continue  # EC2 may not show it yet
        for name, instance in attempt.instances.items():
            node = observed.slurm.nodes.get(name)
            is_unused = node is not None and is_powered_down(node) and name not in observed.started
            if is_unused and instance not in shown and instance not in observed.state.terminated_at:
                text = "Slurm has powered its node down, and EC2 does not show it"
                changes.terminate([instance], "SUSPENDED", text, [name])


def _terminate_duplicates(
    observed: Observed, changes: Changes, name: str, instances: tuple[CloudInstance, ...]
) -> None:
    keep = instance_to_keep(observed, name, instances)
    duplicates = (instance.id for instance in instances if instance is not keep)
    changes.terminate(duplicates, "DUPLICATE", f"{keep.id} is the node's", [name])


def instance_to_keep(observed: Observed, name: str, instances: Iterable[CloudInstance]) -> CloudInstance:
    """Return the instance at the node's address in Slurm; else of the latest launch that succeeded; else the oldest."""
    address = observed.slurm.nodes[name].address

    def rank(instance: CloudInstance) -> tuple[bool, float, float, str]:
        attempt = observed.state.attempts.get(instance.token)
        succeeded = (
            attempt is not None and attempt.ended is not None and not attempt.code and attempt.gang != REBUILT_GANG
        )
        return (
            not (address and instance.address == address),
            -attempt.created_at if attempt is not None and succeeded else 0.0,
            instance.launched,
            instance.id,
        )

    return min(instances, key=rank)


def _nodes_of_ending_instances(observed: Observed) -> set[str]:
    """Return the nodes whose instance EC2 shows as ending, and that have no other instance."""
    instances = observed.ec2.instances if observed.ec2 else ()
    nodes = {instance.node for instance in instances if instance.state not in ALIVE}
    return {node for node in nodes if not observed.has(node)}


def _check_node(observed: Observed, changes: Changes, node: SlurmNode, is_instance_ending: bool) -> None:
    if is_powered_down(node) and not is_down(node):
        return
    if is_set_by_operator(node):
        return
    jobs = observed.jobs.get(node.name, ())
    if is_down(node):
        _power_down_node(observed, changes, node)
    elif is_unhealthy(node) and not is_asked_to_power_down(node):
        _replace_unhealthy_node(observed, changes, node)
    elif is_drained(node) and not is_asked_to_power_down(node) and node.name not in observed.held:
        bound = observed.policy.orphan_seconds
        if changes.seconds_seen(ObservationKind.NODE_DRAINED, node.name, bound) >= bound:
            changes.down([node.name], "ORPHANED", node.reason.removeprefix(OUR_REASON).strip() or "it is drained")
    elif (
        is_up(node)
        and observed.ec2 is not None
        and not observed.has(node.name)
        and (is_instance_ending or not is_heard(node))
    ):
        bound = TERMINATED_RECHECK_SECONDS if is_instance_ending else observed.policy.orphan_seconds / 2
        if changes.seconds_seen(ObservationKind.NODE_WITHOUT_INSTANCE, node.name, bound) >= bound:
            changes.down([node.name], "GONE", "its instance is not there any more", jobs)


def _replace_unhealthy_node(observed: Observed, changes: Changes, node: SlurmNode) -> None:
    """Set down a node that its health checks have drained, unless a job has started on it or has not left it."""
    jobs = observed.jobs.get(node.name, ())
    if node.name in observed.started or (node.name in observed.held and not jobs):
        return
    bound = 0.0 if has_machine_fault(node) else observed.policy.orphan_seconds
    if changes.seconds_seen(ObservationKind.NODE_DRAINED, node.name, bound) >= bound:
        changes.down([node.name], "UNHEALTHY", node.reason.removeprefix(OUR_REASON).strip(), jobs)


def _power_down_node(observed: Observed, changes: Changes, node: SlurmNode) -> None:
    """Power down a node that is down for another reason than an operator's, so that it can be launched again."""
    if "POWERING_DOWN" in node.states or node.name in observed.held:
        return
    has_event = _has_event(observed, node.name)
    has_booted_once = (
        has_unexpected_reboot(node) and not is_powered_down(node) and _has_booted_once(observed, node.name)
    )
    # With an event of its instance it would get jobs that the event ends.
    if has_booted_once and not has_event:
        changes.resumes.append(node.name)
        changes.record("resume", text="it has booted once; slurmctld did not know", nodes=[node.name])
        return
    is_ours = node.reason.lower().startswith(OUR_REASON)
    is_unused = is_ours or is_powered_down(node) or has_event or not observed.has(node.name)
    bound = DOWN_RETRY_SECONDS if is_unused and not is_asked_to_power_down(node) else observed.policy.orphan_seconds
    if changes.seconds_seen(ObservationKind.NODE_DOWN, node.name, bound) >= bound:
        changes.down([node.name], "ORPHANED", node.reason.removeprefix(OUR_REASON).strip() or "it is down")


def _has_event(observed: Observed, name: str) -> bool:
    """Return whether EC2 has announced an event of a node's instance."""
    statuses = observed.state.instance_statuses
    return any(
        scheduled_event(instance, statuses[instance.id], observed.state, observed.policy)
        for instance in observed.living.get(name, ())
        if instance.id in statuses
    )


def _has_booted_once(observed: Observed, node: str) -> bool:
    """Return whether the node has one instance, of a launch in the journal, whose node has not been up in a pass before:
    its boot is the first one, and no fault of the machine."""
    instances = observed.living.get(node, ())
    attempt = observed.state.attempts.get(instances[0].token) if len(instances) == 1 else None
    hold = observed.state.holds.get(instances[0].id) if attempt is not None else None
    return attempt is not None and attempt.gang != REBUILT_GANG and hold is not None and hold.registered is None
