"""Topology of the network in AWS: reads of the network nodes of new instances, once for each instance."""

from landbridge.burst.model import CloudInstance, RecordTopology
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.instances.garbage_collection import instance_to_keep
from landbridge.burst.reconcile.observed import Observed, launched_at


def record_topology(observed: Observed, changes: Changes) -> None:
    """Read the network nodes of running instances of pools with several nodes.

    EC2 knows them when an instance runs, which is before its slurmd registers. If it returns none until ResumeTimeout,
    they stay unknown.
    """
    if observed.ec2 is None:
        changes.topology_read = dict(observed.state.topology_read)
        return
    types = {
        name: {offering.instance_type for offering in pool.offerings if offering.topology}
        for name, pool in observed.policy.pools.items()
        if pool.max_nodes > 1
    }
    unread: dict[str, dict[str, CloudInstance]] = {}  # a refusal in one region concerns that region only
    for name, instances in observed.living.items():
        pool, instance = observed.pools[name], instance_to_keep(observed, name, instances)
        if observed.state.topology_read.get(name) == instance.id:
            changes.topology_read[name] = instance.id
        elif (
            instance.state == "running"
            and instance.type in types.get(pool.name, ())
            and name not in changes.downed
            and instance.id not in changes.terminated
            and observed.now - launched_at(instance, observed.state) <= pool.resume_timeout
        ):
            unread.setdefault(instance.region, {})[name] = instance
    for by_node in unread.values():
        ids = {name: instance.id for name, instance in by_node.items()}
        changes.topology_unread.append(RecordTopology(ids, {name: instance.jobs for name, instance in by_node.items()}))
