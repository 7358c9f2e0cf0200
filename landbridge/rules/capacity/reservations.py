"""Rules about capacity reservations: sizes, placement, who else takes them."""

import re
from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.catalog.aws.limits import limits
from landbridge.environment import (
    CapacityBlock,
    Environment,
    OnDemand,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.findings import Finding, error, warning
from landbridge.rules.capacity.blocks import one_after_the_other
from landbridge.rules.environment_paths import REGION, CapacityAt, capacities, pool_capacities, pools
from landbridge.rules.registry import rule

_ARN = re.compile(r"arn:(?P<partition>[a-z-]+):resource-groups:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):group/")


@rule
def reservation_smaller_than_pool(environment: Environment) -> Iterator[Finding]:
    """What is reserved, bought or has a fallback is enough for max_nodes, and no more is bought than used.

    EC2 refuses launches past the end of a reservation: with no on-demand or spot after it, those nodes never start. What is
    reserved beyond max_nodes is paid for and never runs.
    Source: EC2 RunInstances (ReservationCapacityExceeded); ParallelCluster CapacityReservationSizeValidator.
    """
    for owner in pools(environment):
        bought = list(pool_capacities(owner))
        if any(isinstance(at.capacity, (OnDemand, Spot)) for at in bought):
            continue
        total = _together(bought)
        if total is None:
            continue
        related = (owner.at("capacity"),)
        if total < owner.pool.max_nodes:
            message = (
                f"{owner.pool.name} has {total} instances reserved for {owner.pool.max_nodes} nodes, and no fallback"
            )
            fix = f"write max_nodes: {total}, or add {{kind: on_demand}}"
            yield error(owner.at("max_nodes"), message, fix=fix, related=related)


@rule
def reservation_count(environment: Environment) -> Iterator[Finding]:
    """One reservation has as many instances as EC2 lets it have.

    Source: EC2 API, CreateCapacityReservation, InstanceCount (landbridge/catalog/limits.yaml).
    """
    low, high = limits().reservations.instances
    for at in capacities(environment):
        if isinstance(at.capacity, Reservation) and at.capacity.count is not None and at.capacity.count > high:
            message = f"a reservation has {low} to {high} instances, not {at.capacity.count}"
            fix = "name every reservation with its own count, or the group of them"
            yield error(at.at("count"), message, fix=fix)


@rule
def reservation_larger_than_pool(environment: Environment) -> Iterator[Finding]:
    """A pool may have as many nodes as one of its reservations has instances; the rest is paid for and never runs.

    Source: EC2 User Guide, "Capacity Reservation pricing and billing".
    """
    most: dict[str, int] = {}
    for at in capacities(environment):
        if not isinstance(at.capacity, (OnDemand, Spot)):
            most[_id(at)] = most.get(_id(at), 0) + at.pool.max_nodes
    for at in capacities(environment):
        if isinstance(at.capacity, (OnDemand, Spot)) or at.capacity.count is None:
            continue
        if at.capacity.count > most[_id(at)]:
            message = f"{at.capacity.count} instances are reserved, and {most[_id(at)]} nodes may use them"
            fix = f"raise max_nodes to {at.capacity.count}, or reserve fewer"
            related = (at.owner.at("max_nodes"),)
            yield warning(at.at("count"), message, fix=fix, related=related)


@rule
def reservation_group_match(environment: Environment) -> Iterator[Finding]:
    """A reservation made in a placement group is used by launches into that very group, and by no others.

    Anything else finds no capacity although instances are free and paid for.
    Source: EC2 User Guide, "Capacity Reservations with cluster placement groups"; ParallelCluster
    PlacementGroupCapacityReservationValidator.
    """
    for at in capacities(environment):
        if not isinstance(at.capacity, Reservation) or at.capacity.placement_group is None:
            continue
        made_in, asked = at.capacity.placement_group, at.pool.placement_group
        path, related = at.at("placement_group"), (at.owner.at("placement_group"),)
        if at.pool.placement == "none":
            message = f"{at.capacity.reservation} was made in the group {made_in}, and the pool says placement: none"
            related = (at.owner.at("placement"),)
            yield error(path, message, fix="remove placement: none", related=related)
        elif asked is not None and asked != made_in:
            message = f"{at.capacity.reservation} was made in the group {made_in}; the pool asks for {asked}"
            fix = f"write placement_group: {made_in}"
            yield error(path, message, fix=fix, related=related)


@rule
def reservation_in_other_group(environment: Environment) -> Iterator[Finding]:
    """A pool with reservations made in no placement group does not ask for one.

    The reserved hosts need not be near the group's others: EC2 may answer InsufficientInstanceCapacity while they are free.
    Source: ParallelCluster PlacementGroupCapacityReservationValidator; terraform-aws-eks issues 3661 and 3670.
    """
    for at in capacities(environment):
        group = at.pool.placement_group
        wants = group is not None or at.pool.placement not in (None, "none")
        without = isinstance(at.capacity, ReservationGroup) or (
            isinstance(at.capacity, Reservation) and at.capacity.placement_group is None
        )
        if wants and without:
            key = "placement_group" if group is not None else "placement"
            asked = group if group is not None else f"a {at.pool.placement} group"
            message = f"{_name(at)} was made in no group, so launches into it go into none, and not into {asked}"
            fix = f"remove {key}, or write the reservation's placement_group if it was made in one"
            path, related = at.owner.at(key), (at.path,)
            yield warning(path, message, fix=fix, related=related)


@rule
def duplicate_reservation(environment: Environment) -> Iterator[Finding]:
    """A reservation is one thing: of one kind, one type, one zone, and counted for one pool.

    An error where two places contradict one another, for a reservation has one type and one zone; a warning where two pools
    share it, for each may find it used up by the other.
    Source: EC2 DescribeCapacityReservations (InstanceType, AvailabilityZoneId, ReservationType).
    """
    seen: dict[str, CapacityAt] = {}
    for at in capacities(environment):
        if isinstance(at.capacity, (OnDemand, Spot)):
            continue
        first = seen.setdefault(_id(at), at)
        if first is at:
            continue
        related = (first.path, first.instance_path, at.instance_path)
        differs = _contradiction(first, at)
        if differs:
            message = f"{_name(at)} is {differs[1]} here and {differs[0]} at {first.pool.name}"
            fix = "look it up with aws ec2 describe-capacity-reservations, and correct one of them"
            yield error(at.path, message, fix=fix, related=related)
        elif first.pool is not at.pool:
            message = f"{_name(at)} is {first.pool.name}'s already: each pool may find it used up by the other"
            fix = "reserve for each, or put both into one pool"
            yield warning(at.path, message, fix=fix, related=related)


@rule
def open_reservation_used_up(environment: Environment) -> Iterator[Finding]:
    """Nothing else launches into an open reservation: a pool of the same type on demand in its zone takes it in silence.

    Source: EC2 User Guide, "Instance matching criteria": every matching launch uses an open reservation.
    """
    opened: dict[tuple[str, str], CapacityAt] = {}
    for at in capacities(environment):
        if isinstance(at.capacity, Reservation) and at.capacity.match == "open":
            opened.setdefault((at.instance, at.capacity.zone), at)
    for at in capacities(environment):
        if not opened or not isinstance(at.capacity, OnDemand):
            continue
        for zone in capacity_zones(at.capacity) or (at.type.zones if at.type else ()):
            owner = opened.get((at.instance, zone))
            if owner is not None and owner.pool is not at.pool and isinstance(owner.capacity, Reservation):
                message = f"on-demand launches of {at.pool.name} in {zone} use up {owner.pool.name}'s open reservation"
                fix = f"make {owner.capacity.reservation} targeted, or keep this pool out of {zone}"
                related = (owner.at("match"), at.instance_path)
                yield warning(at.path, message, fix=fix, related=related)
                break


@rule
def group_over_zones(environment: Environment) -> Iterator[Finding]:
    """A group of reservations that EFA nodes use is in one zone: nodes of two zones have no EFA between them.

    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; ParallelCluster EfaMultiAzValidator.
    """
    for at in capacities(environment):
        if not isinstance(at.capacity, ReservationGroup) or len(set(at.capacity.zones)) < 2:
            continue
        efa = at.pool.efa is not False and at.type is not None and bool(at.type.efa_cards)
        if efa or at.pool.placement == "cluster" or at.pool.placement_group is not None:
            why = "EFA" if efa else "a cluster placement group"
            message = f"the group's reservations are in {', '.join(at.capacity.zones)}, and {why} needs one zone"
            fix = "make a group of each zone, and a pool of each group"
            yield warning(at.at("zones"), message, fix=fix, related=(at.instance_path,))


@rule
def group_arn(environment: Environment) -> Iterator[Finding]:
    """A resource group is of this region, partition and account: launches see no other.

    Source: AWS Resource Groups User Guide, ARN format; EC2 RunInstances, CapacityReservationResourceGroupArn.
    """
    region = regions().get(environment.region)
    for at in capacities(environment):
        found = _ARN.match(at.capacity.group) if isinstance(at.capacity, ReservationGroup) else None
        if found is None or region is None:
            continue
        account = environment.aws.account
        wrong = [
            (found["partition"], region.partition, "partition", REGION),
            (found["region"], environment.region, "region", REGION),
            (found["account"], account or found["account"], "account", ("aws", "account")),
        ]
        for has, should, what, other in wrong:
            if has != should:
                message = f"the group's {what} is {has}, the environment's {should}"
                yield error(at.at("group"), message, fix="name a group of this one", related=(other,))
                break


def _id(at: CapacityAt) -> str:
    match at.capacity:
        case Reservation() | CapacityBlock():
            return at.capacity.reservation
        case ReservationGroup():
            return at.capacity.group
        case _:
            return ""


def _together(bought: list[CapacityAt]) -> int | None:
    """How many instances there are at one time at the most; None where one of the counts is not known."""
    unique = {_id(at): at.capacity for at in bought}.values()
    blocks = [one for one in unique if isinstance(one, CapacityBlock)]
    reserved = [one for one in unique if isinstance(one, (Reservation, ReservationGroup))]
    if any(one.count is None for one in (*blocks, *reserved)):
        return None
    # Windows that follow one another are never there together.
    at_once = [sum(o.count or 0 for o in blocks if o is one or not one_after_the_other(o, one)) for one in blocks]
    return sum(one.count or 0 for one in reserved) + max(at_once, default=0)


def _name(at: CapacityAt) -> str:
    return "the reservation group" if isinstance(at.capacity, ReservationGroup) else _id(at)


def _contradiction(one: CapacityAt, other: CapacityAt) -> tuple[str, str] | None:
    pairs = [
        (one.capacity.kind, other.capacity.kind),
        (one.instance, other.instance),
        (", ".join(sorted(capacity_zones(one.capacity))), ", ".join(sorted(capacity_zones(other.capacity)))),
    ]
    return next((pair for pair in pairs if pair[0] != pair[1]), None)
