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
from landbridge.rules.capacity.blocks import never_overlap
from landbridge.rules.environment_paths import REGION, CapacityAt, capacities, pool_capacities, pools
from landbridge.rules.registry import rule

_ARN = re.compile(r"arn:(?P<partition>[a-z-]+):resource-groups:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):group/")


@rule
def reservation_smaller_than_pool(environment: Environment) -> Iterator[Finding]:
    """A pool without on-demand or spot capacity has enough reserved instances for max_nodes.

    EC2 refuses launches above the size of a reservation: without on-demand or spot capacity after it, those nodes never
    start.
    Source: EC2 RunInstances (ReservationCapacityExceeded); ParallelCluster CapacityReservationSizeValidator.
    """
    for owner in pools(environment):
        bought = list(pool_capacities(owner))
        if any(isinstance(at.capacity, (OnDemand, Spot)) for at in bought):
            continue
        total = _max_at_one_time(bought)
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
    nodes_by_reservation: dict[str, int] = {}
    for at in capacities(environment):
        if not isinstance(at.capacity, (OnDemand, Spot)):
            nodes_by_reservation[_id(at)] = nodes_by_reservation.get(_id(at), 0) + at.pool.max_nodes
    for at in capacities(environment):
        if isinstance(at.capacity, (OnDemand, Spot)) or at.capacity.count is None:
            continue
        if at.capacity.count > nodes_by_reservation[_id(at)]:
            message = f"{at.capacity.count} instances are reserved, and the pools have only {nodes_by_reservation[_id(at)]} nodes for them"
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
        reservation_group, pool_group = at.capacity.placement_group, at.pool.placement_group
        path, related = at.at("placement_group"), (at.owner.at("placement_group"),)
        if at.pool.placement == "none":
            message = f"the reservation {at.capacity.reservation} is in the placement group {reservation_group}, and the pool has placement: none"
            related = (at.owner.at("placement"),)
            yield error(path, message, fix="remove placement: none", related=related)
        elif pool_group is not None and pool_group != reservation_group:
            message = f"the reservation {at.capacity.reservation} is in the placement group {reservation_group}, and the pool has {pool_group}"
            fix = f"write placement_group: {reservation_group}"
            yield error(path, message, fix=fix, related=related)


@rule
def reservation_in_other_group(environment: Environment) -> Iterator[Finding]:
    """A pool with a reservation outside placement groups has no placement group.

    The reserved hosts need not be near the other hosts of the group: EC2 may answer InsufficientInstanceCapacity while
    they are free.
    Source: ParallelCluster PlacementGroupCapacityReservationValidator; terraform-aws-eks issues 3661 and 3670.
    """
    for at in capacities(environment):
        group = at.pool.placement_group
        has_group = group is not None or at.pool.placement not in (None, "none")
        is_outside_group = isinstance(at.capacity, ReservationGroup) or (
            isinstance(at.capacity, Reservation) and at.capacity.placement_group is None
        )
        if has_group and is_outside_group:
            key = "placement_group" if group is not None else "placement"
            group_text = group if group is not None else f"a {at.pool.placement} group"
            message = f"{_name(at)} is in no placement group, so launches into it are not in {group_text}"
            fix = f"remove {key}, or write the reservation's placement_group if it has one"
            path, related = at.owner.at(key), (at.path,)
            yield warning(path, message, fix=fix, related=related)


@rule
def duplicate_reservation(environment: Environment) -> Iterator[Finding]:
    """A reservation is written with one kind, type and zone, and used by one pool.

    An error if two entries contradict each other; a warning if two pools share the reservation, because one pool may
    use all of it.
    Source: EC2 DescribeCapacityReservations (InstanceType, AvailabilityZoneId, ReservationType).
    """
    by_id: dict[str, CapacityAt] = {}
    for at in capacities(environment):
        if isinstance(at.capacity, (OnDemand, Spot)):
            continue
        first = by_id.setdefault(_id(at), at)
        if first is at:
            continue
        related = (first.path, first.instance_path, at.instance_path)
        contradiction = _contradiction(first, at)
        if contradiction:
            message = f"{_name(at)} is {contradiction[1]} here and {contradiction[0]} in the pool {first.pool.name}"
            fix = "correct one of them; aws ec2 describe-capacity-reservations shows the reservation"
            yield error(at.path, message, fix=fix, related=related)
        elif first.pool is not at.pool:
            message = f"{_name(at)} is shared with the pool {first.pool.name}: one pool may use all of it"
            fix = "create a reservation for each pool, or merge the pools"
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
            fix = "create one reservation group and one pool for each zone"
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
        parts = [
            (match["partition"], region.partition, "partition", REGION),
            (match["region"], environment.region, "region", REGION),
            (match["account"], account or match["account"], "account", ("aws", "account")),
        ]
        for actual, expected, part, path in parts:
            if actual != expected:
                message = f"the reservation group's {part} is {actual}; the environment's is {expected}"
                yield error(at.at("group"), message, fix=f"use a group of the {part} {expected}", related=(path,))
                break


def _id(at: CapacityAt) -> str:
    match at.capacity:
        case Reservation() | CapacityBlock():
            return at.capacity.reservation
        case ReservationGroup():
            return at.capacity.group
        case _:
            return ""


def _max_at_one_time(bought: list[CapacityAt]) -> int | None:
    """Return the highest number of instances at one time; None if a count is unknown."""
    unique = {_id(at): at.capacity for at in bought}.values()
    blocks = [capacity for capacity in unique if isinstance(capacity, CapacityBlock)]
    reserved = [capacity for capacity in unique if isinstance(capacity, (Reservation, ReservationGroup))]
    if any(capacity.count is None for capacity in (*blocks, *reserved)):
        return None
    # Windows that follow one another do not add up.
    at_once = [sum(o.count or 0 for o in blocks if o is block or not never_overlap(o, block)) for block in blocks]
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
