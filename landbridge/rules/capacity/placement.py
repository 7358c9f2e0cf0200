"""Rules about placement groups."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.environment import CapacityBlock, Environment
from landbridge.findings import Finding, error, warning
from landbridge.plan.aws_limits import capacity_block_violations
from landbridge.plan.instances.capacity import terms
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.zones import pool_zones
from landbridge.rules.environment_paths import REGION, CapacityAt, PoolAt, capacities, pool_capacities, pools
from landbridge.rules.registry import rule


@rule
def placement_not_supported(environment: Environment) -> Iterator[Finding]:
    """The instance type supports the placement strategy of its pool.

    Burstable and some older types cannot be in cluster groups; the launch is refused.
    Source: EC2 DescribeInstanceTypes, SupportedPlacementGroupStrategies; ParallelCluster
    InstanceTypePlacementGroupValidator.
    """
    for at in capacities(environment):
        strategy = terms(at.pool, at.capacity).placement
        if at.type is None or strategy is None or not at.type.placement or strategy in at.type.placement:
            continue
        message = (
            f"{at.instance} does not support {strategy} placement groups; it supports {', '.join(at.type.placement)}"
        )
        fix = "write placement: none, or use a type that supports it"
        yield error(_strategy_path(at), message, fix=fix, related=(at.instance_path,))


@rule
def block_in_group(environment: Environment) -> Iterator[Finding]:
    """Launches into a Capacity Block have no placement group.

    The instances of a block are already close together. With a group, EC2 may return InsufficientInstanceCapacity while
    the block has free instances.
    Source: EC2 User Guide, "Capacity Blocks for ML"; ParallelCluster PlacementGroupCapacityTypeValidator.
    """
    for owner in pools(environment):
        block = next((at for at in pool_capacities(owner) if isinstance(at.capacity, CapacityBlock)), None)
        if block is None:
            continue
        others = len(owner.pool.capacity) > 1
        fix = "remove it, and move a fallback that needs a group to a separate pool" if others else "remove it"
        for fault in capacity_block_violations(owner.pool.placement_group, owner.pool.placement):
            path = owner.at("placement_group" if fault.key == "group" else "placement")
            yield error(path, fault.message, fix=fix, related=(block.path,))


@rule
def group_without_placement(environment: Environment) -> Iterator[Finding]:
    """A pool with placement_group does not have placement: none.

    Source: Landbridge; ParallelCluster PlacementGroupNamingValidator refuses a name with Enabled: false.
    """
    for owner in pools(environment):
        if owner.pool.placement_group is not None and owner.pool.placement == "none":
            message = f"placement_group {owner.pool.placement_group} has no effect with placement: none"
            related = (owner.at("placement"),)
            fix = "remove one of them"
            yield error(owner.at("placement_group"), message, fix=fix, related=related)


@rule
def spread_limit(environment: Environment) -> Iterator[Finding]:
    """max_nodes is within the limit of a spread placement group: seven instances in each zone.

    Source: EC2 User Guide, "Placement groups", rules of spread groups.
    """
    max_per_zone = limits().placement_groups.spread_per_zone
    for owner in pools(environment):
        zones = pool_zones(owner.pool, environment.region) if owner.pool.placement == "spread" else ()
        if zones and owner.pool.max_nodes > max_per_zone * len(zones):
            message = f"a spread placement group has {max_per_zone} instances in a zone, {max_per_zone * len(zones)} in {', '.join(zones)}"
            fix = f"write max_nodes: {max_per_zone * len(zones)}, or placement: partition"
            related = (owner.at("placement"), owner.at("capacity"), REGION)
            yield error(owner.at("max_nodes"), message, fix=fix, related=related)


@rule
def efa_without_cluster_group(environment: Environment) -> Iterator[Finding]:
    """Nodes with EFA are in a cluster placement group, or in capacity that is close together.

    Spread and partition groups place instances on different racks, which adds network latency; without a group the
    placement is arbitrary.
    Source: EC2 User Guide, "Elastic Fabric Adapter"; ParallelCluster EfaPlacementGroupValidator.
    """
    for owner in pools(environment):
        placement = owner.pool.placement
        if placement not in ("none", "spread", "partition") or owner.pool.max_nodes < 2 or not _efa(owner):
            continue
        on_demand_or_spot = [at for at in pool_capacities(owner) if at.capacity.kind in ("on_demand", "spot")]
        if on_demand_or_spot:
            location = "in no placement group" if placement == "none" else f"in a {placement} placement group"
            message = f"the EFA nodes of {owner.pool.name} are {location}"
            fix = "remove placement: the default is a cluster group if the capacity allows one"
            related = (owner.at("instance"), owner.at("capacity"))
            yield warning(owner.at("placement"), message, fix=fix, related=related)


@rule
def named_group_zone(environment: Environment) -> Iterator[Finding]:
    """A named cluster placement group is used in one zone: the zone of its first instance.

    Launches in other zones are refused. Landbridge creates one group for each zone.
    Source: EC2 User Guide, "Placement groups", rules of cluster groups; ParallelCluster MultiAzPlacementGroupValidator.
    """
    for owner in pools(environment):
        group = owner.pool.placement_group
        if group is None or owner.pool.placement not in (None, "cluster"):
            continue
        zones = pool_zones(owner.pool, environment.region)
        if len(zones) > 1:
            message = f"the cluster placement group {group} is in one zone, and the pool uses {', '.join(zones)}"
            fix = "write only the zone of the group, or remove placement_group"
            related = (owner.at("capacity"), REGION)
            yield warning(owner.at("placement_group"), message, fix=fix, related=related)


@rule
def shared_group(environment: Environment) -> Iterator[Finding]:
    """Pools that share a placement group have the same strategy, zone and instance type.

    A group has one strategy and, as a cluster, one zone. With several instance types in a group, insufficient capacity
    is more frequent.
    Source: EC2 User Guide, "Placement groups", rules and "best practices" (one launch request, one type).
    """
    first_owner: dict[str, PoolAt] = {}
    for owner in pools(environment):
        group = owner.pool.placement_group
        if group is None:
            continue
        other = first_owner.setdefault(group, owner)
        if other is owner:
            continue
        path, related = owner.at("placement_group"), (other.at("placement_group"), other.path, owner.path)
        strategy, other_strategy = owner.pool.placement or "cluster", other.pool.placement or "cluster"
        has_no_common_zone = not set(pool_zones(owner.pool, environment.region)) & set(
            pool_zones(other.pool, environment.region)
        )
        if strategy != other_strategy:
            message = f"the group {group} is a {other_strategy} group for {other.pool.name} and a {strategy} group here"
            yield error(path, message, fix="write another placement_group", related=related)
        elif strategy == "cluster" and has_no_common_zone:
            message = f"the cluster placement group {group} is shared with {other.pool.name}, which is in other zones"
            yield error(path, message, fix="write another placement_group", related=related)
        elif strategy == "cluster" and owner.pool.instance != other.pool.instance:
            message = (
                f"the placement group {group} has {other.pool.instance} of {other.pool.name} and {owner.pool.instance}"
            )
            fix = "write another placement_group: a group of one type finds capacity more often"
            yield warning(path, message, fix=fix, related=related)


def _strategy_path(at: CapacityAt) -> tuple[str | int, ...]:
    if at.pool.placement is not None:
        return at.owner.at("placement")
    return at.owner.at("placement_group") if at.pool.placement_group is not None else at.instance_path


def _efa(owner: PoolAt) -> bool:
    return owner.type is not None and any(nic.type != "interface" for nic in pool_interfaces(owner.pool))
