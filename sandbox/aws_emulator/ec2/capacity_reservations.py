"""On-demand capacity reservations and Capacity Blocks, which moto lacks. Kept in the World, by region and id."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from sandbox.aws_emulator.ec2.instance_types import zones_of
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, insufficient_capacity
from sandbox.aws_emulator.server.filters import matching

#: Before a block starts it has no instances yet: how many were bought stands in a tag of AWS's own.
BOUGHT = "aws:ec2capacityreservation:incrementalRequestedQuantity"
KIND = "aws:ec2capacityreservation:capacityReservationType"
BLOCK_SIZES = (1, 2, 4, 8, 16, 32, 64)
_FILTERS = {
    "instance-type": "InstanceType",
    "owner-id": "OwnerId",
    "state": "State",
    "availability-zone": "AvailabilityZone",
    "availability-zone-id": "AvailabilityZoneId",
    "instance-match-criteria": "InstanceMatchCriteria",
    "tenancy": "Tenancy",
    "placement-group-arn": "PlacementGroupArn",
}


def create(world: EmulatorState, region: str, account: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """CreateCapacityReservation."""
    kind, count = str(request.get("InstanceType")), int(request.get("InstanceCount") or 0)
    zone = _zone(world, region, kind, request.get("AvailabilityZone"), request.get("AvailabilityZoneId"))
    if count < 1:
        raise CloudError("InvalidParameterValue", "The instance count must be at least 1.")
    ends, how = request.get("EndDate"), request.get("EndDateType", "limited" if request.get("EndDate") else "unlimited")
    if (how == "limited") != bool(ends):
        raise CloudError("InvalidParameterCombination", "EndDateType 'limited' goes with an end date, and only it.")
    return _made(
        world,
        region,
        account,
        kind,
        zone,
        count,
        InstanceMatchCriteria=request.get("InstanceMatchCriteria", "open"),
        EndDateType=how,
        **({"EndDate": _time(ends)} if ends else {}),
        **({"PlacementGroupArn": request["PlacementGroupArn"]} if request.get("PlacementGroupArn") else {}),
        InstancePlatform=request.get("InstancePlatform", "Linux/UNIX"),
        Tenancy=request.get("Tenancy", "default"),
        Tags=[tag for s in request.get("TagSpecifications") or [] for tag in s.get("Tags", [])],
        ReservationType="default",
    )


def offer(world: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """DescribeCapacityBlockOfferings: one offering, which starts at the first 11:30 UTC in the range asked for."""
    kind, count = str(request.get("InstanceType")), int(request.get("InstanceCount") or 0)
    hours = int(request.get("CapacityDurationHours") or 0)
    if "capacity-block" not in INSTANCE_TYPES.get(kind, {}).get("SupportedUsageClasses", []):
        raise CloudError("InvalidParameterValue", f"Capacity Blocks are not supported for instance type {kind}.")
    if count not in BLOCK_SIZES:
        raise CloudError("InvalidParameterValue", f"A Capacity Block has one of {BLOCK_SIZES} instances.")
    if hours < 24 or hours > 4368 or hours % 24 or (hours > 336 and hours % 168):
        message = "The duration is 1 to 14 days, or whole weeks up to 26 of them, in hours."
        raise CloudError("InvalidParameterValue", message)
    starts = _time(request.get("StartDateRange") or world.now()).replace(hour=11, minute=30, second=0, microsecond=0)
    if starts < world.now():
        starts += timedelta(days=1)
    zones = zones_of(world, region, kind)
    if not zones:
        return {"CapacityBlockOfferings": []}
    offering = {
        "CapacityBlockOfferingId": f"cbr-{uuid.uuid4().hex[:17]}",
        "InstanceType": kind,
        "AvailabilityZone": next(iter(zones)),
        "InstanceCount": count,
        "StartDate": starts,
        "EndDate": starts + timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
        "UpfrontFee": "1000.00",
        "CurrencyCode": "USD",
        "Tenancy": "default",
    }
    world.offerings[offering["CapacityBlockOfferingId"]] = offering
    return {"CapacityBlockOfferings": [offering]}


def purchase(world: EmulatorState, region: str, account: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """PurchaseCapacityBlock."""
    chosen = world.offerings.get(str(request.get("CapacityBlockOfferingId")))
    if chosen is None:
        raise CloudError("InvalidParameterValue", "The Capacity Block offering is not valid or has expired.")
    tags = [tag for s in request.get("TagSpecifications") or [] for tag in s.get("Tags", [])]
    own = {BOUGHT: str(chosen["InstanceCount"]), KIND: "capacity-block"}
    return _made(
        world,
        region,
        account,
        chosen["InstanceType"],
        _zone(world, region, chosen["InstanceType"], chosen["AvailabilityZone"], None),
        chosen["InstanceCount"],
        StartDate=chosen["StartDate"],
        EndDate=chosen["EndDate"],
        EndDateType="limited",
        InstanceMatchCriteria="targeted",
        InstancePlatform=request.get("InstancePlatform", "Linux/UNIX"),
        Tenancy="default",
        Tags=[*tags, *({"Key": key, "Value": value} for key, value in own.items())],
        ReservationType="capacity-block",
    )


def describe(world: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """DescribeCapacityReservations."""
    capacity_reservation_ids = list(request.get("CapacityReservationIds") or [])
    for one in capacity_reservation_ids:
        find(world, region, one)
    ids = capacity_reservation_ids or [found for where, found in world.reservations if where == region]
    shown = [show(world, region, one) for one in ids]
    return {"CapacityReservations": matching(shown, request.get("Filters") or [], _FILTERS)}


def cancel(world: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """CancelCapacityReservation; a Capacity Block cannot be cancelled."""
    reservation = find(world, region, str(request.get("CapacityReservationId")))
    if reservation["ReservationType"] == "capacity-block":
        raise CloudError("UnsupportedOperation", "Capacity Blocks cannot be cancelled.")
    reservation["State"] = "cancelled"
    return {"Return": True}


def target(launch: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The reservation and the group of reservations that a launch names."""
    chosen = (launch.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
    return chosen.get("CapacityReservationId"), chosen.get("CapacityReservationResourceGroupArn")


def admit(
    world: EmulatorState, region: str, launch: Mapping[str, Any], kind: str, zone_id: str
) -> tuple[str | None, int]:
    """Return the reservation of a launch and its free instances; (None, any number) for a launch without one.

    Raises EC2's error when market, type, zone, group or state do not fit.
    """
    market = (launch.get("InstanceMarketOptions") or {}).get("MarketType")
    named, group = target(launch)
    if market == "capacity-block" and not named:
        raise CloudError("InvalidParameterCombination", "A Capacity Block launch must name its reservation.")
    if not named and not group:
        return None, 1_000_000_000
    if group:
        arns = world.members.get(group)
        if arns is None:
            raise CloudError("InvalidParameterValue", f"The resource group {group} does not exist or is empty.")
        ids = [arn.rpartition("/")[2] for arn in arns]
    else:
        ids = [str(named)]
    problems: list[CloudError] = []
    for one in ids:
        shown = show(world, region, one)
        if problem := _unfit(shown, launch, kind, zone_id, market):
            problems.append(problem)
        elif shown["AvailableInstanceCount"]:
            return one, int(shown["AvailableInstanceCount"])
    if problems and len(problems) == len(ids):
        raise problems[0]
    message = "The targeted Capacity Reservation has not enough available instance capacity to fulfill your request."
    raise CloudError("ReservationCapacityExceeded", message)


def _unfit(
    shown: Mapping[str, Any], launch: Mapping[str, Any], kind: str, zone_id: str, market: str | None
) -> CloudError | None:
    capacity_reservation_id = shown["CapacityReservationId"]
    if (shown["ReservationType"] == "capacity-block") != (market == "capacity-block"):
        message = (
            f"The market type does not fit the reservation {capacity_reservation_id} ({shown['ReservationType']})."
        )
        return CloudError("InvalidParameterCombination", message)
    if shown["State"] != "active":
        return CloudError(
            "InvalidCapacityReservationState", f"The reservation {capacity_reservation_id} is {shown['State']}."
        )
    if shown["InstanceType"] != kind or shown["AvailabilityZoneId"] != zone_id:
        message = f"The reservation {capacity_reservation_id} is for {shown['InstanceType']} in {shown['AvailabilityZoneId']}."
        return CloudError("InvalidParameterValue", message)
    own = str(shown.get("PlacementGroupArn", "")).rpartition("/")[2]
    group = (launch.get("Placement") or {}).get("GroupName", "")
    if own != group and (own or shown["ReservationType"] == "capacity-block"):
        # Where the block or the reservation has its own place, another group finds no capacity.
        return insufficient_capacity(kind, zone_id)
    return None


def find(world: EmulatorState, region: str, reservation_id: str) -> dict[str, Any]:
    """The stored reservation; InvalidCapacityReservationId.NotFound."""
    reservation = world.reservations.get((region, reservation_id))
    if reservation is None:
        message = f"The capacity reservation '{reservation_id}' does not exist"
        raise CloudError("InvalidCapacityReservationId.NotFound", message)
    return reservation


def show(world: EmulatorState, region: str, reservation_id: str) -> dict[str, Any]:
    """A reservation as the API shows it now: its state follows the clock, its free instances the launches."""
    stored = find(world, region, reservation_id)
    state, total = stored["State"], stored["TotalInstanceCount"]
    now = world.now()
    if state == "active" and "StartDate" in stored and now < stored["StartDate"]:
        state = "scheduled"
    if state == "active" and "EndDate" in stored and now >= stored["EndDate"]:
        state = "expired"
    if stored["ReservationType"] == "capacity-block" and state != "active":
        total = 0
    used = sum(held == reservation_id for held in world.reserved.values())
    free = max(0, total - used) if state == "active" else 0
    return {**stored, "State": state, "TotalInstanceCount": total, "AvailableInstanceCount": free}


def _made(
    world: EmulatorState, region: str, account: str, kind: str, zone: tuple[str, str], count: int, **more: Any
) -> dict[str, Any]:
    reservation_id = f"cr-{uuid.uuid4().hex[:17]}"
    world.reservations[region, reservation_id] = {
        "CapacityReservationId": reservation_id,
        "CapacityReservationArn": f"arn:aws:ec2:{region}:{account}:capacity-reservation/{reservation_id}",
        "OwnerId": account,
        "InstanceType": kind,
        "AvailabilityZone": zone[0],
        "AvailabilityZoneId": zone[1],
        "TotalInstanceCount": count,
        "State": "active",
        "EbsOptimized": True,
        "EphemeralStorage": False,
        "CreateDate": world.now(),
        **more,
    }
    return {"CapacityReservation": show(world, region, reservation_id)}


def _zone(world: EmulatorState, region: str, kind: str, name: Any, zone_id: Any) -> tuple[str, str]:
    """Name and id of the zone asked for, which must offer the type."""
    zones = zones_of(world, region, kind)
    if not zones:
        raise CloudError("InvalidParameterValue", f"Invalid value '{kind}' for InstanceType.")
    for zone, one in zones.items():
        if zone == name or (name is None and one == zone_id):
            return zone, one
    where = name or zone_id
    raise CloudError("Unsupported", f"The instance type {kind} is not supported in the Availability Zone {where}.")


def _time(value: Any) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
