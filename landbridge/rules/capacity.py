"""Rules about pools as a whole: their names, their sizes, and the order in which capacity is tried."""

from collections.abc import Iterator

from landbridge.catalog import Price, price_of, zones
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
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule
from landbridge.rules.walk import POOLS, CapacityAt, capacities, emulated, of_pool, pools, usd


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
            yield Finding("duplicate-pool", message, path, "choose another", related=(taken[at.pool.name] or path,))
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
            yield Finding("pool-size", message, at.at("min_nodes"), fix, related=(at.at("max_nodes"),))


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
            yield Finding("purchase-not-offered", message, at.at("kind"), fix, related=(at.instance_path,))


@rule
def paid_capacity_first(environment: Environment) -> Iterator[Finding]:
    """What is paid for already is tried before what costs extra.

    Capacity Blocks and reservations are billed whether nodes run in them or not.
    Source: EC2 User Guide, "Capacity Reservation pricing and billing" and "Capacity Blocks pricing and billing".
    """
    for owner in pools(environment):
        before: CapacityAt | None = None
        for at in of_pool(owner):
            if isinstance(at.capacity, (OnDemand, Spot)):
                before = before or at
            elif before is not None:
                message = (
                    f"{_called(before.capacity)} is tried before {_called(at.capacity)}, which is paid for already"
                )
                related = (before.path,)
                yield Finding("paid-capacity-first", message, at.path, "put it first", Severity.WARNING, related)


@rule
def fallback_without_turn(environment: Environment) -> Iterator[Finding]:
    """Every capacity of a pool adds something to those before it.

    One that asks for the same type in the same market and in no other zone is refused for the reason the first one was.
    Source: Landbridge tries capacities in the file's order (docs/explanation/bursting.md).
    """
    known = zones(environment.region)
    for owner in pools(environment):
        seen: list[tuple[CapacityAt, frozenset[str]]] = []
        for at in of_pool(owner):
            there = frozenset(capacity_zones(at.capacity) or (at.type.zones_in(known) if at.type else known))
            first = next((other for other, where in seen if _same_market(other, at) and there <= where), None)
            if first is not None:
                message = f"this asks for what capacity[{first.number}] has been refused: {_called(at.capacity)}"
                fix = "remove it, or name another zone, type or market"
                yield Finding("fallback-without-turn", message, at.path, fix, Severity.WARNING, (first.path,))
            seen.append((at, there))


@rule
def kept_on_demand(environment: Environment) -> Iterator[Finding]:
    """Nodes kept running on demand are wanted at their price: they cost every hour, busy or not.

    Source: EC2 on-demand prices, as dated in landbridge/catalog/prices.yaml.
    """
    for owner in pools(environment):
        first = next(of_pool(owner))
        kept = owner.pool.min_nodes
        if not kept or emulated(environment) or not isinstance(first.capacity, OnDemand):
            continue
        price = price_of("on_demand", first.instance, environment.region)
        cost = f", {usd(price.usd * kept * 730)} a month as of {price.as_of}" if isinstance(price, Price) else ""
        message = f"{kept} {first.instance} run whether there are jobs or not{cost}"
        fix = "min_nodes: 0 starts nodes for jobs and gives them back"
        yield Finding("kept-on-demand", message, owner.at("min_nodes"), fix, Severity.WARNING, (first.instance_path,))


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
            yield Finding("prepaid-idle-pool", message, owner.at("capacity"), fix, Severity.INFO)


@rule
def nothing_to_launch(environment: Environment) -> Iterator[Finding]:
    """Pools are there when an environment asks for things that only pools use.

    Source: Landbridge.
    """
    if not environment.aws.pools and environment.storage.in_aws():
        message = "there are file systems in AWS and no pool that would use them; they are billed all the same"
        path: DataPath = ("storage", *next(iter(environment.storage.in_aws())))
        fix = "remove them, or add a pool"
        yield Finding("nothing-to-launch", message, path, fix, Severity.WARNING, (POOLS,))


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
