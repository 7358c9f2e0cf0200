"""On-demand capacity reservations and Capacity Blocks, which moto does not have (stored by region and id)."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from sandbox.aws_emulator.ec2.instance_types import zones_of
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, insufficient_capacity
from sandbox.aws_emulator.server.filters import matching

#: Tag of AWS with the purchased number of instances: before its start a Capacity Block has no instances.
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


def create(emulator: EmulatorState, region: str, account: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateCapacityReservation."""
    instance_type, count = str(request.get("InstanceType")), int(request.get("InstanceCount") or 0)
    zone = _zone(emulator, region, instance_type, request.get("AvailabilityZone"), request.get("AvailabilityZoneId"))
    if count < 1:
        raise CloudError("InvalidParameterValue", "The instance count must be at least 1.")
    end_date, end_date_type = (
        request.get("EndDate"),
        request.get("EndDateType", "limited" if request.get("EndDate") else "unlimited"),
    )
    if (end_date_type == "limited") != bool(end_date):
        raise CloudError(
            "InvalidParameterCombination", "EndDateType 'limited' requires an end date, and an end date requires it."
        )
    return _store(
        emulator,
        region,
        account,
        instance_type,
        zone,
        count,
        InstanceMatchCriteria=request.get("InstanceMatchCriteria", "open"),
        EndDateType=end_date_type,
        **({"EndDate": _time(end_date)} if end_date else {}),
        **({"PlacementGroupArn": request["PlacementGroupArn"]} if request.get("PlacementGroupArn") else {}),
        InstancePlatform=request.get("InstancePlatform", "Linux/UNIX"),
        Tenancy=request.get("Tenancy", "default"),
        Tags=[tag for s in request.get("TagSpecifications") or [] for tag in s.get("Tags", [])],
        ReservationType="default",
    )


def offer(emulator: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeCapacityBlockOfferings: one offering, from the first 11:30 UTC in the requested range."""
    instance_type, count = str(request.get("InstanceType")), int(request.get("InstanceCount") or 0)
    hours = int(request.get("CapacityDurationHours") or 0)
    if "capacity-block" not in INSTANCE_TYPES.get(instance_type, {}).get("SupportedUsageClasses", []):
        raise CloudError(
            "InvalidParameterValue", f"Capacity Blocks are not supported for instance type {instance_type}."
        )
    if count not in BLOCK_SIZES:
        raise CloudError("InvalidParameterValue", f"A Capacity Block has one of {BLOCK_SIZES} instances.")
    if hours < 24 or hours > 4368 or hours % 24 or (hours > 336 and hours % 168):
        message = "The duration is 1 to 14 days, or whole weeks up to 26 of them, in hours."
        raise CloudError("InvalidParameterValue", message)
    start = _time(request.get("StartDateRange") or emulator.now()).replace(hour=11, minute=30, second=0, microsecond=0)
    if start < emulator.now():
        start += timedelta(days=1)
    zones = zones_of(emulator, region, instance_type)
    if not zones:
        return {"CapacityBlockOfferings": []}
    offering = {
        "CapacityBlockOfferingId": f"cbr-{uuid.uuid4().hex[:17]}",
        "InstanceType": instance_type,
        "AvailabilityZone": next(iter(zones)),
        "InstanceCount": count,
        "StartDate": start,
        "EndDate": start + timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
        "UpfrontFee": f"{emulator.block_usd[instance_type] * count * hours:.2f}"
        if instance_type in emulator.block_usd
        else "1000.00",
        "CurrencyCode": "USD",
        "Tenancy": "default",
    }
    emulator.offerings[str(offering["CapacityBlockOfferingId"])] = offering
    return {"CapacityBlockOfferings": [offering]}


def purchase(emulator: EmulatorState, region: str, account: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer PurchaseCapacityBlock."""
    offering = emulator.offerings.get(str(request.get("CapacityBlockOfferingId")))
    if offering is None:
        raise CloudError("InvalidParameterValue", "The Capacity Block offering is not valid or has expired.")
    tags = [tag for s in request.get("TagSpecifications") or [] for tag in s.get("Tags", [])]
    aws_tags = {BOUGHT: str(offering["InstanceCount"]), KIND: "capacity-block"}
    return _store(
        emulator,
        region,
        account,
        offering["InstanceType"],
        _zone(emulator, region, offering["InstanceType"], offering["AvailabilityZone"], None),
        offering["InstanceCount"],
        StartDate=offering["StartDate"],
        EndDate=offering["EndDate"],
        EndDateType="limited",
        InstanceMatchCriteria="targeted",
        InstancePlatform=request.get("InstancePlatform", "Linux/UNIX"),
        Tenancy="default",
        Tags=[*tags, *({"Key": key, "Value": value} for key, value in aws_tags.items())],
        ReservationType="capacity-block",
    )


def describe(emulator: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeCapacityReservations."""
    capacity_reservation_ids = list(request.get("CapacityReservationIds") or [])
    for reservation_id in capacity_reservation_ids:
        find(emulator, region, reservation_id)
    ids = capacity_reservation_ids or [id_ for id_region, id_ in emulator.reservations if id_region == region]
    shown = [show(emulator, region, reservation_id) for reservation_id in ids]
    return {"CapacityReservations": matching(shown, request.get("Filters") or [], _FILTERS)}


def cancel(emulator: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CancelCapacityReservation; a Capacity Block cannot be cancelled."""
    reservation = find(emulator, region, str(request.get("CapacityReservationId")))
    if reservation["ReservationType"] == "capacity-block":
        raise CloudError("UnsupportedOperation", "Capacity Blocks cannot be cancelled.")
    reservation["State"] = "cancelled"
    return {"Return": True}


def target(launch: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the reservation id and the ARN of the reservation group of a launch (each may be None)."""
    chosen = (launch.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
    return chosen.get("CapacityReservationId"), chosen.get("CapacityReservationResourceGroupArn")


def admit(
    emulator: EmulatorState, region: str, launch: Mapping[str, Any], instance_type: str, zone_id: str
) -> tuple[str | None, int]:
    """Return the reservation of a launch and its free instances; (None, any number) for a launch without one.

    Raise EC2's error if market, type, zone, group or state do not match.
    """
    market = (launch.get("InstanceMarketOptions") or {}).get("MarketType")
    reservation_id, group = target(launch)
    if market == "capacity-block" and not reservation_id:
        raise CloudError("InvalidParameterCombination", "A Capacity Block launch must name its reservation.")
    if not reservation_id and not group:
        return None, 1_000_000_000
    if group:
        arns = emulator.members.get(group)
        if arns is None:
            raise CloudError("InvalidParameterValue", f"The resource group {group} does not exist or is empty.")
        ids = [arn.rpartition("/")[2] for arn in arns]
    else:
        ids = [str(reservation_id)]
    problems: list[CloudError] = []
    for candidate_id in ids:
        reservation = show(emulator, region, candidate_id)
        if problem := _unfit(reservation, launch, instance_type, zone_id, market):
            problems.append(problem)
        elif reservation["AvailableInstanceCount"]:
            return candidate_id, int(reservation["AvailableInstanceCount"])
    if problems and len(problems) == len(ids):
        raise problems[0]
    message = "The targeted Capacity Reservation has not enough available instance capacity to fulfill your request."
    raise CloudError("ReservationCapacityExceeded", message)


def _unfit(
    reservation: Mapping[str, Any], launch: Mapping[str, Any], instance_type: str, zone_id: str, market: str | None
) -> CloudError | None:
    capacity_reservation_id = reservation["CapacityReservationId"]
    if (reservation["ReservationType"] == "capacity-block") != (market == "capacity-block"):
        reservation_type = reservation["ReservationType"]
        message = f"The market type does not fit the reservation {capacity_reservation_id} ({reservation_type})."
        return CloudError("InvalidParameterCombination", message)
    if reservation["State"] != "active":
        return CloudError(
            "InvalidCapacityReservationState", f"The reservation {capacity_reservation_id} is {reservation['State']}."
        )
    if reservation["InstanceType"] != instance_type or reservation["AvailabilityZoneId"] != zone_id:
        place = f"{reservation['InstanceType']} in {reservation['AvailabilityZoneId']}"
        message = f"The reservation {capacity_reservation_id} is for {place}."
        return CloudError("InvalidParameterValue", message)
    own_group = str(reservation.get("PlacementGroupArn", "")).rpartition("/")[2]
    group = (launch.get("Placement") or {}).get("GroupName", "")
    if own_group != group and (own_group or reservation["ReservationType"] == "capacity-block"):
        # A Capacity Block, or a reservation in a placement group, has no capacity for another placement group.
        return insufficient_capacity(instance_type, zone_id)
    return None


def find(emulator: EmulatorState, region: str, reservation_id: str) -> dict[str, Any]:
    """Return the stored reservation; raise InvalidCapacityReservationId.NotFound."""
    reservation = emulator.reservations.get((region, reservation_id))
    if reservation is None:
        message = f"The capacity reservation '{reservation_id}' does not exist"
        raise CloudError("InvalidCapacityReservationId.NotFound", message)
    return reservation


def show(emulator: EmulatorState, region: str, reservation_id: str) -> dict[str, Any]:
    """Return a reservation as the API shows it: its state depends on the clock, its free instances on the launches."""
    stored = find(emulator, region, reservation_id)
    state, total = stored["State"], stored["TotalInstanceCount"]
    now = emulator.now()
    if state == "active" and "StartDate" in stored and now < stored["StartDate"]:
        state = "scheduled"
    if state == "active" and "EndDate" in stored and now >= stored["EndDate"]:
        state = "expired"
    if stored["ReservationType"] == "capacity-block" and state != "active":
        total = 0
    used = sum(id_ == reservation_id for id_ in emulator.reserved.values())
    free = max(0, total - used) if state == "active" else 0
    return {**stored, "State": state, "TotalInstanceCount": total, "AvailableInstanceCount": free}


def _store(
    emulator: EmulatorState,
    region: str,
    account: str,
    instance_type: str,
    zone: tuple[str, str],
    count: int,
    **properties: Any,
) -> dict[str, Any]:
    reservation_id = f"cr-{uuid.uuid4().hex[:17]}"
    emulator.reservations[region, reservation_id] = {
        "CapacityReservationId": reservation_id,
        "CapacityReservationArn": f"arn:aws:ec2:{region}:{account}:capacity-reservation/{reservation_id}",
        "OwnerId": account,
        "InstanceType": instance_type,
        "AvailabilityZone": zone[0],
        "AvailabilityZoneId": zone[1],
        "TotalInstanceCount": count,
        "State": "active",
        "EbsOptimized": True,
        "EphemeralStorage": False,
        "CreateDate": emulator.now(),
        **properties,
    }
    return {"CapacityReservation": show(emulator, region, reservation_id)}


def _zone(emulator: EmulatorState, region: str, instance_type: str, name: Any, zone_id: Any) -> tuple[str, str]:
    """Return name and id of the requested zone; raise if it does not offer the instance type."""
    zones = zones_of(emulator, region, instance_type)
    if not zones:
        raise CloudError("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    for zone, id_ in zones.items():
        if zone == name or (name is None and id_ == zone_id):
            return zone, id_
    requested = name or zone_id
    raise CloudError(
        "Unsupported", f"The instance type {instance_type} is not supported in the Availability Zone {requested}."
    )


def _time(value: Any) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
