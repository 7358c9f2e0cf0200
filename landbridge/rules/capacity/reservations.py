"""Rules about capacity reservations: sizes, placement groups and use by other pools."""

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
    """A pool without on-demand or spot capacity has enough reserved instances for max_nodes.

    EC2 refuses launches past the end of a reservation: without on-demand or spot capacity after it, those nodes never
    start.
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
                f"{owner.pool.name} has {total} reserved instances for {owner.pool.max_nodes} nodes, and no fallback"
            )
            fix = f"write max_nodes: {total}, or add {{kind: on_demand}}"
            yield error(owner.at("max_nodes"), message, fix=fix, related=related)


@rule
def reservation_count(environment: Environment) -> Iterator[Finding]:
    """The instance count of a reservation is within EC2's limit.

    Source: EC2 API, CreateCapacityReservation, InstanceCount (landbridge/catalog/limits.yaml).
    """
    low, high = limits().reservations.instances
    for at in capacities(environment):
        if isinstance(at.capacity, Reservation) and at.capacity.count is not None and at.capacity.count > high:
            message = f"the reservation has {at.capacity.count} instances; EC2 allows {low} to {high}"
            fix = "write each reservation with its own count, or a reservation group"
            yield error(at.at("count"), message, fix=fix)


@rule
def reservation_larger_than_pool(environment: Environment) -> Iterator[Finding]:
    """A reservation has at most as many instances as its pools have nodes: the rest is billed and never used.

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
            message = (
                f"{at.capacity.count} instances are reserved, and the pools have only {most[_id(at)]} nodes for them"
            )
            fix = f"raise max_nodes to {at.capacity.count}, or reserve fewer"
            related = (at.owner.at("max_nodes"),)
            yield warning(at.at("count"), message, fix=fix, related=related)


@rule
def reservation_group_match(environment: Environment) -> Iterator[Finding]:
    """A reservation in a placement group is used only by launches into that group.

    Other launches fail for insufficient capacity although reserved instances are free.
    Source: EC2 User Guide, "Capacity Reservations with cluster placement groups"; ParallelCluster
    PlacementGroupCapacityReservationValidator.
    """
    for at in capacities(environment):
        if not isinstance(at.capacity, Reservation) or at.capacity.placement_group is None:
            continue
        made_in, asked = at.capacity.placement_group, at.pool.placement_group
        path, related = at.at("placement_group"), (at.owner.at("placement_group"),)
        if at.pool.placement == "none":
            message = f"the reservation {at.capacity.reservation} is in the placement group {made_in}, and the pool has placement: none"
            related = (at.owner.at("placement"),)
            yield error(path, message, fix="remove placement: none", related=related)
        elif asked is not None and asked != made_in:
            message = f"the reservation {at.capacity.reservation} is in the placement group {made_in}, and the pool has {asked}"
            fix = f"write placement_group: {made_in}"
            yield error(path, message, fix=fix, related=related)


@rule
def reservation_in_other_group(environment: Environment) -> Iterator[Finding]:
    """A pool with a reservation outside placement groups names no placement group.

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
            message = f"{_name(at)} is in no placement group, so launches into it are not in {asked}"
            fix = f"remove {key}, or write the reservation's placement_group if it has one"
            path, related = at.owner.at(key), (at.path,)
            yield warning(path, message, fix=fix, related=related)


@rule
def duplicate_reservation(environment: Environment) -> Iterator[Finding]:
    """A reservation is written with one kind, type and zone, and used by one pool.

    An error where two entries contradict each other; a warning where two pools share the reservation, because one pool may
    use all of it.
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
            message = f"{_name(at)} is {differs[1]} here and {differs[0]} in the pool {first.pool.name}"
            fix = "correct one of them; aws ec2 describe-capacity-reservations shows the reservation"
            yield error(at.path, message, fix=fix, related=related)
        elif first.pool is not at.pool:
            message = f"{_name(at)} is shared with the pool {first.pool.name}: one pool may use all of it"
            fix = "make a reservation for each pool, or merge the pools"
            yield warning(at.path, message, fix=fix, related=related)


@rule
def open_reservation_used_up(environment: Environment) -> Iterator[Finding]:
    """No other pool has on-demand capacity of the same type and zone as an open reservation: its launches use the reservation.

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
                fix = f"make {owner.capacity.reservation} targeted, or remove {zone} from this pool"
                related = (owner.at("match"), at.instance_path)
                yield warning(at.path, message, fix=fix, related=related)
                break


@rule
def group_over_zones(environment: Environment) -> Iterator[Finding]:
    """A reservation group of EFA nodes is in one zone: EFA does not work between zones.

    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; ParallelCluster EfaMultiAzValidator.
    """
    for at in capacities(environment):
        if not isinstance(at.capacity, ReservationGroup) or len(set(at.capacity.zones)) < 2:
            continue
        efa = at.pool.efa is not False and at.type is not None and bool(at.type.efa_cards)
        if efa or at.pool.placement == "cluster" or at.pool.placement_group is not None:
            why = "EFA" if efa else "a cluster placement group"
            message = f"the reservation group is in {', '.join(at.capacity.zones)}; {why} needs one zone"
            fix = "make one reservation group and one pool for each zone"
            yield warning(at.at("zones"), message, fix=fix, related=(at.instance_path,))


@rule
def group_arn(environment: Environment) -> Iterator[Finding]:
    """A reservation group has the environment's region, partition and account.

    Source: AWS Resource Groups User Guide, ARN format; EC2 RunInstances, CapacityReservationResourceGroupArn.
    """
    region = regions().get(environment.region)
    for at in capacities(environment):
        match = _ARN.match(at.capacity.group) if isinstance(at.capacity, ReservationGroup) else None
        if match is None or region is None:
            continue
        account = environment.aws.account
        wrong = [
            (match["partition"], region.partition, "partition", REGION),
            (match["region"], environment.region, "region", REGION),
            (match["account"], account or match["account"], "account", ("aws", "account")),
        ]
        for has, should, what, other in wrong:
            if has != should:
                message = f"the reservation group's {what} is {has}; the environment's is {should}"
                yield error(at.at("group"), message, fix=f"use a group of the {what} {should}", related=(other,))
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
    """Return the highest number of instances at one time; None where a count is unknown."""
    unique = {_id(at): at.capacity for at in bought}.values()
    blocks = [capacity for capacity in unique if isinstance(capacity, CapacityBlock)]
    reserved = [capacity for capacity in unique if isinstance(capacity, (Reservation, ReservationGroup))]
    if any(capacity.count is None for capacity in (*blocks, *reserved)):
        return None
    # Windows that follow one another do not add up.
    at_once = [sum(o.count or 0 for o in blocks if o is block or not one_after_the_other(o, block)) for block in blocks]
    return sum(capacity.count or 0 for capacity in reserved) + max(at_once, default=0)


def _name(at: CapacityAt) -> str:
    return "the reservation group" if isinstance(at.capacity, ReservationGroup) else _id(at)


def _contradiction(first: CapacityAt, other: CapacityAt) -> tuple[str, str] | None:
    pairs = [
        (first.capacity.kind, other.capacity.kind),
        (first.instance, other.instance),
        (", ".join(sorted(capacity_zones(first.capacity))), ", ".join(sorted(capacity_zones(other.capacity)))),
    ]
    return next((pair for pair in pairs if pair[0] != pair[1]), None)
