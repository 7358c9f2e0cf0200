"""Rules about pools: names, sizes and the order of their capacities."""

from collections.abc import Iterator

from landbridge.catalog import Price, price_of, zones
from landbridge.catalog.aws.limits import limits
from landbridge.environment import (
    AnyCapacity,
    CapacityBlock,
    Environment,
    OnDemand,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.hostlist import expand
from landbridge.plan.cost import HOURS_PER_MONTH
from landbridge.rules.environment_paths import POOLS, CapacityAt, capacities, pool_capacities, pools, usd
from landbridge.rules.registry import rule

#: Capacity that is billed whether nodes run or not.
_PREPAID = (CapacityBlock, Reservation, ReservationGroup)
#: Longer than a user's usual pause between two jobs.
_LONG_IDLE_SECONDS = 7200


@rule
def duplicate_pool(environment: Environment) -> Iterator[Finding]:
    """A pool's name is unique, and not `gpu`, `onprem` or `aws`: nodes and a partition are named after it.

    Source: Landbridge; slurm.conf(5) keeps the last of two PartitionName lines, without an error.
    """
    paths_by_name: dict[str, DataPath] = {"gpu": (), "onprem": (), "aws": ()}
    for owner in pools(environment):
        path = owner.at("name")
        if owner.pool.name in paths_by_name:
            reason = "is reserved" if not paths_by_name[owner.pool.name] else "is used by another pool"
            message = f'the name "{owner.pool.name}" {reason}'
            yield error(path, message, fix="write another name", related=(paths_by_name[owner.pool.name] or path,))
        paths_by_name.setdefault(owner.pool.name, path)


@rule
def pool_size(environment: Environment) -> Iterator[Finding]:
    """min_nodes of a pool is at most max_nodes.

    Source: ParallelCluster ComputeResourceSizeValidator.
    """
    for owner in pools(environment):
        if owner.pool.min_nodes > owner.pool.max_nodes:
            message = f"min_nodes is {owner.pool.min_nodes}, more than max_nodes, {owner.pool.max_nodes}"
            fix = f"write min_nodes: {owner.pool.max_nodes} or less"
            yield error(owner.at("min_nodes"), message, fix=fix, related=(owner.at("max_nodes"),))


@rule
def purchase_not_offered(environment: Environment) -> Iterator[Finding]:
    """EC2 sells the instance type in the capacity kind of the pool. Reservations are on-demand capacity.

    Not every type is sold as a Capacity Block, as spot or on demand: EC2 refuses the launch.
    Source: EC2 DescribeInstanceTypes, SupportedUsageClasses; ParallelCluster CapacityTypeValidator.
    """
    for at in capacities(environment):
        if at.type is None or not at.type.purchase:
            continue
        needed = "on_demand" if isinstance(at.capacity, (Reservation, ReservationGroup)) else at.capacity.kind
        if needed not in at.type.purchase:
            message = f"EC2 does not sell {at.instance} as {needed}, only as {', '.join(at.type.purchase)}"
            fix = f"use kind: {at.type.purchase[0]}"
            yield error(at.at("kind"), message, fix=fix, related=(at.instance_path,))


@rule
def prepaid_capacity_order(environment: Environment) -> Iterator[Finding]:
    """Prepaid capacity is listed before capacity that costs extra.

    Capacity Blocks and reservations are billed whether nodes run in them or not.
    Source: EC2 User Guide, "Capacity Reservation pricing and billing" and "Capacity Blocks pricing and billing".
    """
    for owner in pools(environment):
        billed: CapacityAt | None = None
        for at in pool_capacities(owner):
            if isinstance(at.capacity, (OnDemand, Spot)):
                billed = billed or at
            elif billed is not None:
                message = f"{_capacity_text(billed.capacity)} is tried before {_capacity_text(at.capacity)}, which is already paid for"
                related = (billed.path,)
                yield warning(at.path, message, fix="put it first", related=related)


@rule
def duplicate_fallback(environment: Environment) -> Iterator[Finding]:
    """Each capacity of a pool differs from those before it in type, market or zone.

    A capacity with the same type, market and zones fails for the same reason as the earlier one.
    Source: Landbridge tries capacities in the file's order (docs/explanation/bursting.md).
    """
    known_zones = zones(environment.region)
    for owner in pools(environment):
        earlier: list[tuple[CapacityAt, frozenset[str]]] = []
        for at in pool_capacities(owner):
            zone_ids = frozenset(
                capacity_zones(at.capacity) or (at.type.zones_in(known_zones) if at.type else known_zones)
            )
            first = next(
                (
                    other
                    for other, other_zones in earlier
                    if zone_ids and _same_market(other, at) and zone_ids <= other_zones
                ),
                None,
            )
            if first is not None:
                message = f"capacity[{first.number}] already has the same {_capacity_text(at.capacity)}"
                fix = "remove it, or write another zone, type or kind"
                yield warning(at.path, message, fix=fix, related=(first.path,))
            earlier.append((at, zone_ids))


@rule(public_aws=True)
def min_nodes_on_demand(environment: Environment) -> Iterator[Finding]:
    """min_nodes with on-demand capacity is intended: the nodes are billed every hour, busy or idle.

    Source: EC2 on-demand prices, as dated in landbridge/catalog/prices.yaml.
    """
    for owner in pools(environment):
        first = next(pool_capacities(owner))
        min_nodes = owner.pool.min_nodes
        if not min_nodes or not isinstance(first.capacity, OnDemand):
            continue
        price = price_of("on_demand", first.instance, environment.region)
        cost = (
            f", {usd(price.usd * min_nodes * HOURS_PER_MONTH)} a month as of {price.as_of}"
            if isinstance(price, Price)
            else ""
        )
        message = f"min_nodes keeps {min_nodes} on-demand {first.instance} running without jobs{cost}"
        fix = "write min_nodes: 0 to launch nodes for jobs only"
        yield warning(owner.at("min_nodes"), message, fix=fix, related=(first.instance_path,))


@rule
def prepaid_idle_pool(environment: Environment) -> Iterator[Finding]:
    """A pool with only reserved capacity keeps its nodes running: they cost no extra, and each start takes minutes.

    Source: EC2 User Guide, "Capacity Reservation pricing and billing".
    """
    for owner in pools(environment):
        is_reserved_only = all(
            isinstance(capacity, (Reservation, ReservationGroup)) for capacity in owner.pool.capacity
        )
        if is_reserved_only and owner.pool.min_nodes == 0:
            message = f"{owner.pool.name} has only reserved capacity, which is billed while its nodes are stopped"
            fix = f"write min_nodes: {owner.pool.max_nodes}, which costs no extra, or cancel the reservation"
            yield info(owner.at("capacity"), message, fix=fix)


@rule
def slurm_nodes(environment: Environment) -> Iterator[Finding]:
    """The number of nodes is within Slurm's limit: cloud nodes count also while they are powered down.

    Above the limit slurmctld does not start; below it too, many nodes that never run slow every scheduling cycle. A
    warning, because the value of the limit is not verified.
    Source: Slurm, src/common/node_conf.c, "past max node limit" (landbridge/catalog/limits.yaml).
    """
    max_nodes = limits().slurm.nodes
    total = sum(owner.pool.max_nodes for owner in pools(environment))
    total += sum(len(expand(group.hosts)) for group in environment.node_groups)
    if total > max_nodes:
        message = f"{total} nodes in slurm.conf, more than Slurm's limit of {max_nodes}"
        fix = "lower max_nodes to the number that quotas and budgets allow"
        related: tuple[DataPath, ...] = (POOLS, ("onprem", "nodes"))
        yield warning(POOLS, message, fix=fix, related=related)


@rule(public_aws=True)
def boot_time(environment: Environment) -> Iterator[Finding]:
    """resume_timeout is longer than a node's boot: GPU nodes need four to ten minutes.

    A node that registers later is marked down, terminated and launched again: the job stays pending, and every launch
    is billed.
    Source: slurm.conf(5), ResumeTimeout; boot times in landbridge/catalog/limits.yaml.
    """
    max_boot_seconds = limits().boot.minutes[1] * 60
    for owner in pools(environment):
        has_accelerators = owner.type is not None and owner.type.accelerators is not None
        if has_accelerators and owner.pool.resume_timeout < max_boot_seconds:
            message = (
                f"resume_timeout is {owner.pool.resume_timeout} s; a GPU node may need {max_boot_seconds} s to boot"
            )
            fix = "remove resume_timeout: the default is 1200"
            related = (owner.at("instance"),)
            yield warning(owner.at("resume_timeout"), message, fix=fix, related=related)


@rule(public_aws=True)
def idle_time(environment: Environment) -> Iterator[Finding]:
    """suspend_after is at least as long as a boot, and at most two hours.

    Terminated too early, each small job pays for another boot (at least one minute is billed); too late, idle nodes are
    billed. Prepaid capacity is not checked.
    Source: EC2 pricing, per-second billing (landbridge/catalog/limits.yaml); slurm.conf(5), SuspendTime.
    """
    min_seconds, min_boot_seconds = limits().billing.least_seconds, limits().boot.minutes[0] * 60
    for owner in pools(environment):
        is_prepaid = all(isinstance(capacity, _PREPAID) for capacity in owner.pool.capacity)
        if is_prepaid or owner.type is None:
            continue
        idle_seconds, path, related = owner.pool.suspend_after, owner.at("suspend_after"), (owner.at("instance"),)
        price = price_of("on_demand", owner.pool.instance, environment.region)
        if idle_seconds < (min_boot_seconds if owner.type.accelerators is not None else min_seconds):
            message = f"suspend_after is {idle_seconds} s, shorter than a boot: the next job waits for a boot again"
            yield warning(path, message, fix="write suspend_after: 600 or more", related=related)
        elif idle_seconds > _LONG_IDLE_SECONDS:
            cost = (
                f", {usd(price.usd * idle_seconds / 3600)} each time as of {price.as_of}"
                if isinstance(price, Price)
                else ""
            )
            message = f"an idle node is billed for {idle_seconds / 3600:.1f} hours before it is terminated{cost}"
            yield warning(path, message, fix="write suspend_after: 600", related=related)


def _same_market(earlier: CapacityAt, later: CapacityAt) -> bool:
    if earlier.capacity.kind != later.capacity.kind or earlier.instance != later.instance:
        return False
    match earlier.capacity, later.capacity:
        case (OnDemand(), OnDemand()):
            return True
        case (Spot(max_price_usd=first), Spot(max_price_usd=then)):
            return first is None or (then is not None and then <= first)
        case (Reservation() as first, Reservation() as then):
            return first.reservation == then.reservation
        case (CapacityBlock() as first, CapacityBlock() as then):
            return first.reservation == then.reservation
        case (ReservationGroup() as first, ReservationGroup() as then):
            return first.group == then.group
    return False


def _capacity_text(capacity: AnyCapacity) -> str:
    match capacity:
        case OnDemand():
            return "on-demand capacity"
        case Spot():
            return "spot capacity"
        case Reservation():
            return f"the reservation {capacity.reservation}"
        case ReservationGroup():
            return "the reservation group"
        case CapacityBlock():
            return f"the Capacity Block {capacity.reservation}"
