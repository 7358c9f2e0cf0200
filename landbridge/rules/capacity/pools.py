"""Rules about pools as a whole: their names, their sizes, and the order in which capacity is tried."""

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
from landbridge.plan.cost import HOURS_A_MONTH
from landbridge.rules.environment_paths import POOLS, CapacityAt, capacities, pool_capacities, pools, usd
from landbridge.rules.registry import rule

#: What is paid for whether it runs or not.
_PREPAID = (CapacityBlock, Reservation, ReservationGroup)
#: Seconds of idleness that nobody means: longer than a person's break between two jobs.
_LONG_IDLE = 7200


@rule
def duplicate_pool(environment: Environment) -> Iterator[Finding]:
    """A pool's name is its nodes' and its queue's: it may not be another's, nor `gpu`, `onprem` or `aws`.

    Source: Landbridge; slurm.conf(5) keeps the last of two PartitionName lines in silence.
    """
    taken: dict[str, DataPath] = {"gpu": (), "onprem": (), "aws": ()}
    for at in pools(environment):
        path = at.at("name")
        if at.pool.name in taken:
            what = "is used by Landbridge itself" if not taken[at.pool.name] else "is another pool's already"
            message = f'the name "{at.pool.name}" {what}'
            yield error(path, message, fix="choose another", related=(taken[at.pool.name] or path,))
        taken.setdefault(at.pool.name, path)


@rule
def pool_size(environment: Environment) -> Iterator[Finding]:
    """A pool keeps no more nodes running than it may have.

    Source: ParallelCluster ComputeResourceSizeValidator.
    """
    for at in pools(environment):
        if at.pool.min_nodes > at.pool.max_nodes:
            message = f"min_nodes is {at.pool.min_nodes}, more than the {at.pool.max_nodes} of max_nodes"
            fix = f"write at most min_nodes: {at.pool.max_nodes}"
            yield error(at.at("min_nodes"), message, fix=fix, related=(at.at("max_nodes"),))


@rule
def purchase_not_offered(environment: Environment) -> Iterator[Finding]:
    """A type is bought in a way in which EC2 sells it. Reservations are of on-demand capacity.

    Not every type comes as a Capacity Block, as spot or on demand; the launch is refused.
    Source: EC2 DescribeInstanceTypes, SupportedUsageClasses; ParallelCluster CapacityTypeValidator.
    """
    for at in capacities(environment):
        if at.type is None or not at.type.purchase:
            continue
        needed = "on_demand" if isinstance(at.capacity, (Reservation, ReservationGroup)) else at.capacity.kind
        if needed not in at.type.purchase:
            message = f"{at.instance} cannot be bought as {needed}; it can as {', '.join(at.type.purchase)}"
            fix = f"use kind: {at.type.purchase[0]}"
            yield error(at.at("kind"), message, fix=fix, related=(at.instance_path,))


@rule
def prepaid_capacity_order(environment: Environment) -> Iterator[Finding]:
    """What is paid for already is tried before what costs extra.

    Capacity Blocks and reservations are billed whether nodes run in them or not.
    Source: EC2 User Guide, "Capacity Reservation pricing and billing" and "Capacity Blocks pricing and billing".
    """
    for owner in pools(environment):
        before: CapacityAt | None = None
        for at in pool_capacities(owner):
            if isinstance(at.capacity, (OnDemand, Spot)):
                before = before or at
            elif before is not None:
                message = (
                    f"{_called(before.capacity)} is tried before {_called(at.capacity)}, which is paid for already"
                )
                related = (before.path,)
                yield warning(at.path, message, fix="put it first", related=related)


@rule
def duplicate_fallback(environment: Environment) -> Iterator[Finding]:
    """Every capacity of a pool adds something to those before it.

    One that asks for the same type in the same market and in no other zone is refused for the reason the first one was.
    Source: Landbridge tries capacities in the file's order (docs/explanation/bursting.md).
    """
    known = zones(environment.region)
    for owner in pools(environment):
        seen: list[tuple[CapacityAt, frozenset[str]]] = []
        for at in pool_capacities(owner):
            there = frozenset(capacity_zones(at.capacity) or (at.type.zones_in(known) if at.type else known))
            first = next((other for other, where in seen if there and _same_market(other, at) and there <= where), None)
            if first is not None:
                message = f"by its turn capacity[{first.number}] has been refused the same: {_called(at.capacity)}"
                fix = "remove it, or name another zone, type or market"
                yield warning(at.path, message, fix=fix, related=(first.path,))
            seen.append((at, there))


@rule(public_aws=True)
def min_nodes_on_demand(environment: Environment) -> Iterator[Finding]:
    """Nodes kept running on demand are wanted at their price: they cost every hour, busy or not.

    Source: EC2 on-demand prices, as dated in landbridge/catalog/prices.yaml.
    """
    for owner in pools(environment):
        first = next(pool_capacities(owner))
        kept = owner.pool.min_nodes
        if not kept or not isinstance(first.capacity, OnDemand):
            continue
        price = price_of("on_demand", first.instance, environment.region)
        cost = (
            f", {usd(price.usd * kept * HOURS_A_MONTH)} a month as of {price.as_of}" if isinstance(price, Price) else ""
        )
        message = f"{kept} {first.instance} run whether there are jobs or not{cost}"
        fix = "min_nodes: 0 starts nodes for jobs and gives them back"
        yield warning(owner.at("min_nodes"), message, fix=fix, related=(first.instance_path,))


@rule
def prepaid_idle_pool(environment: Environment) -> Iterator[Finding]:
    """A reservation that is paid for anyway serves best with its nodes running; starting them takes minutes each time.

    Source: EC2 User Guide, "Capacity Reservation pricing and billing".
    """
    for owner in pools(environment):
        only = all(isinstance(capacity, (Reservation, ReservationGroup)) for capacity in owner.pool.capacity)
        if only and owner.pool.min_nodes == 0:
            message = f"{owner.pool.name} has reserved capacity alone, which is billed while its nodes are off"
            fix = f"min_nodes: {owner.pool.max_nodes} keeps them on at no extra cost, or let the reservation go"
            yield info(owner.at("capacity"), message, fix=fix)


@rule
def slurm_nodes(environment: Environment) -> Iterator[Finding]:
    """One Slurm has room for every node there may be, started or not: cloud nodes are in its table all the time.

    Past its limit slurmctld does not start; long before, a table of nodes that never run slows every scheduling cycle. A
    warning, for the limit's value is unverified.
    Source: Slurm, src/common/node_conf.c, "past max node limit" (landbridge/catalog/limits.yaml).
    """
    most = limits().slurm.nodes
    total = sum(at.pool.max_nodes for at in pools(environment))
    total += sum(len(expand(group.hosts)) for group in environment.node_groups)
    if total > most:
        message = f"{total} nodes in slurm.conf; Slurm has room for {most}"
        fix = "lower max_nodes to what the quotas and budgets allow anyway"
        related: tuple[DataPath, ...] = (POOLS, ("onprem", "nodes"))
        yield warning(POOLS, message, fix=fix, related=related)


@rule(public_aws=True)
def boot_time(environment: Environment) -> Iterator[Finding]:
    """Slurm waits for a node as long as its boot takes: GPU nodes need four to ten minutes.

    A node that is not there by then is taken for failed, ended and started again: the job waits for ever, and every start is
    billed.
    Source: slurm.conf(5), ResumeTimeout; boot times in landbridge/catalog/limits.yaml.
    """
    slowest = limits().boot.minutes[1] * 60
    for owner in pools(environment):
        accelerated = owner.type is not None and owner.type.accelerators is not None
        if accelerated and owner.pool.resume_timeout < slowest:
            message = (
                f"Slurm gives up on a node after {owner.pool.resume_timeout} s; a GPU node may boot for {slowest} s"
            )
            fix = "remove resume_timeout: the default is 1200"
            related = (owner.at("instance"),)
            yield warning(owner.at("resume_timeout"), message, fix=fix, related=related)


@rule(public_aws=True)
def idle_time(environment: Environment) -> Iterator[Finding]:
    """An idle node waits for its next job no shorter than a boot, and not for hours.

    Given back too early, every small job pays for another boot (a start costs a minute at least); too late, an idle node costs
    as much as a busy one. What is paid for in advance may wait.
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
            message = f"nodes are given back after {wait} s, and the next job boots them again for minutes"
            yield warning(path, message, fix="write suspend_after: 600 or more", related=related)
        elif wait > _LONG_IDLE:
            lost = f", {usd(price.usd * wait / 3600)} each time as of {price.as_of}" if isinstance(price, Price) else ""
            message = f"an idle node is paid for {wait / 3600:.1f} hours before it is given back{lost}"
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


def _called(capacity: AnyCapacity) -> str:
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
