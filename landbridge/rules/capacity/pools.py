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

#: Capacity that is paid for whether nodes run or not.
_PREPAID = (CapacityBlock, Reservation, ReservationGroup)
#: Longer than a user's break between two jobs.
_LONG_IDLE_SECONDS = 7200


@rule
def duplicate_pool(environment: Environment) -> Iterator[Finding]:
    """A pool's name is unique, and not `gpu`, `onprem` or `aws`: nodes and a partition are named after it.

    Source: Landbridge; slurm.conf(5) silently keeps the last of two PartitionName lines.
    """
    taken: dict[str, DataPath] = {"gpu": (), "onprem": (), "aws": ()}
    for at in pools(environment):
        path = at.at("name")
        if at.pool.name in taken:
            what = "is reserved" if not taken[at.pool.name] else "is used by another pool"
            message = f'the name "{at.pool.name}" {what}'
            yield error(path, message, fix="write another name", related=(taken[at.pool.name] or path,))
        taken.setdefault(at.pool.name, path)


@rule
def pool_size(environment: Environment) -> Iterator[Finding]:
    """min_nodes of a pool is at most max_nodes.

    Source: ParallelCluster ComputeResourceSizeValidator.
    """
    for at in pools(environment):
        if at.pool.min_nodes > at.pool.max_nodes:
            message = f"min_nodes is {at.pool.min_nodes}, more than max_nodes, {at.pool.max_nodes}"
            fix = f"write min_nodes: {at.pool.max_nodes} or less"
            yield error(at.at("min_nodes"), message, fix=fix, related=(at.at("max_nodes"),))


@rule
def purchase_not_offered(environment: Environment) -> Iterator[Finding]:
    """EC2 sells the instance type in the capacity kind of the pool. Reservations are on-demand capacity.

    Not every type comes as a Capacity Block, as spot or on demand; the launch is refused.
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
        before: CapacityAt | None = None
        for at in pool_capacities(owner):
            if isinstance(at.capacity, (OnDemand, Spot)):
                before = before or at
            elif before is not None:
                message = f"{_capacity_text(before.capacity)} is tried before {_capacity_text(at.capacity)}, which is already paid for"
                related = (before.path,)
                yield warning(at.path, message, fix="put it first", related=related)


@rule
def duplicate_fallback(environment: Environment) -> Iterator[Finding]:
    """Each capacity of a pool differs from those before it in type, market or zone.

    A capacity with the same type, market and zones fails for the same reason as the earlier one.
    Source: Landbridge tries capacities in the file's order (docs/explanation/bursting.md).
    """
    known_zones = zones(environment.region)
    for owner in pools(environment):
        seen: list[tuple[CapacityAt, frozenset[str]]] = []
        for at in pool_capacities(owner):
            zone_ids = frozenset(
                capacity_zones(at.capacity) or (at.type.zones_in(known_zones) if at.type else known_zones)
            )
            first = next(
                (other for other, where in seen if zone_ids and _same_market(other, at) and zone_ids <= where),
                None,
            )
            if first is not None:
                message = f"capacity[{first.number}] already asks for the same {_capacity_text(at.capacity)}"
                fix = "remove it, or write another zone, type or kind"
                yield warning(at.path, message, fix=fix, related=(first.path,))
            seen.append((at, zone_ids))


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
        only = all(isinstance(capacity, (Reservation, ReservationGroup)) for capacity in owner.pool.capacity)
        if only and owner.pool.min_nodes == 0:
            message = f"{owner.pool.name} has only reserved capacity, which is billed while its nodes are stopped"
            fix = f"write min_nodes: {owner.pool.max_nodes}, which costs no extra, or cancel the reservation"
            yield info(owner.at("capacity"), message, fix=fix)


@rule
def slurm_nodes(environment: Environment) -> Iterator[Finding]:
    """The number of nodes is within Slurm's limit: cloud nodes count also while they are powered down.

    Past its limit slurmctld does not start; long before, a table of nodes that never run slows every scheduling cycle. A
    warning, for the limit's value is unverified.
    Source: Slurm, src/common/node_conf.c, "past max node limit" (landbridge/catalog/limits.yaml).
    """
    most = limits().slurm.nodes
    total = sum(at.pool.max_nodes for at in pools(environment))
    total += sum(len(expand(group.hosts)) for group in environment.node_groups)
    if total > most:
        message = f"{total} nodes in slurm.conf, more than Slurm's limit of {most}"
        fix = "lower max_nodes to the number that quotas and budgets allow"
        related: tuple[DataPath, ...] = (POOLS, ("onprem", "nodes"))
        yield warning(POOLS, message, fix=fix, related=related)


@rule(public_aws=True)
def boot_time(environment: Environment) -> Iterator[Finding]:
    """resume_timeout is longer than a node's boot: GPU nodes need four to ten minutes.

    A node that registers later is marked down, terminated and launched again: the job stays pending, and every launch is
    billed.
    Source: slurm.conf(5), ResumeTimeout; boot times in landbridge/catalog/limits.yaml.
    """
    slowest = limits().boot.minutes[1] * 60
    for owner in pools(environment):
        accelerated = owner.type is not None and owner.type.accelerators is not None
        if accelerated and owner.pool.resume_timeout < slowest:
            message = f"resume_timeout is {owner.pool.resume_timeout} s; a GPU node may need {slowest} s to boot"
            fix = "remove resume_timeout: the default is 1200"
            related = (owner.at("instance"),)
            yield warning(owner.at("resume_timeout"), message, fix=fix, related=related)


@rule(public_aws=True)
def idle_time(environment: Environment) -> Iterator[Finding]:
    """suspend_after is at least as long as a boot, and at most two hours.

    Terminated too early, each small job pays for another boot (at least a minute is billed); too late, idle nodes are billed.
    Prepaid capacity is not checked.
    Source: EC2 pricing, per-second billing (landbridge/catalog/limits.yaml); slurm.conf(5), SuspendTime.
    """
    least, quickest = limits().billing.least_seconds, limits().boot.minutes[0] * 60
    for owner in pools(environment):
        paid = all(isinstance(capacity, _PREPAID) for capacity in owner.pool.capacity)
        if paid or owner.type is None:
            continue
        wait, path, related = owner.pool.suspend_after, owner.at("suspend_after"), (owner.at("instance"),)
        price = price_of("on_demand", owner.pool.instance, environment.region)
        if wait < (quickest if owner.type.accelerators is not None else least):
            message = f"suspend_after is {wait} s, shorter than a boot: the next job waits for a boot again"
            yield warning(path, message, fix="write suspend_after: 600 or more", related=related)
        elif wait > _LONG_IDLE_SECONDS:
            lost = f", {usd(price.usd * wait / 3600)} each time as of {price.as_of}" if isinstance(price, Price) else ""
            message = f"an idle node is billed for {wait / 3600:.1f} hours before it is terminated{lost}"
            yield warning(path, message, fix="write suspend_after: 600", related=related)


def _same_market(one: CapacityAt, other: CapacityAt) -> bool:
    if one.capacity.kind != other.capacity.kind or one.instance != other.instance:
        return False
    match one.capacity, other.capacity:
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
