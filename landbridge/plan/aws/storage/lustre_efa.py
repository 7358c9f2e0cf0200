"""EFA interfaces of nodes that Lustre uses.

A node mounts an FSx for Lustre file system with EFA at the servers' TCP addresses; LNet finds the servers' EFA addresses there and
prefers them, if the node has added EFA interfaces to LNet. Source: FSx for Lustre User Guide, "Configuring EFA clients"; Amazon EKS User
Guide, "Optimize Amazon FSx for Lustre performance on nodes (EFA)"; read 2026-11-25.
"""

from landbridge.catalog import instances
from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import Environment, FsxLustre, PoolSettings
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.network_interfaces import pool_interfaces


def client_interfaces(environment: Environment, pool: PoolSettings) -> int:
    """Return the number of a node's EFA interfaces for Lustre: the largest of the pool's instance types; 0 without EFA.

    A node of a type with fewer interfaces uses all of them.
    """
    shares = environment.storage.in_aws().values()
    if not any(isinstance(share, FsxLustre) and share.efa for share in shares):
        return 0
    types = dict.fromkeys(terms.instance for terms in fallbacks(pool, environment.region))
    return max((_interfaces_of(pool, instance) for instance in types), default=0)


def _interfaces_of(pool: PoolSettings, instance: str) -> int:
    efa, kind = facts().fsx_lustre.efa, instances().get(instance)
    if kind is None or kind.family in efa.unsupported_families:
        return 0
    with_efa = [nic for nic in pool_interfaces(pool, instance) if nic.type != "interface"]
    others = efa.client_interfaces_of_others
    default = others.several_cards if len({nic.network_card for nic in with_efa}) > 1 else others.one_card
    return min(len(with_efa), efa.client_interfaces.get(instance, default))
