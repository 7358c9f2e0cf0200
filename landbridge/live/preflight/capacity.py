"""Checks of capacity that was bought in advance: its type, zone, size and dates."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import CapacityBlock, Reservation
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning

#: Until a block begins, AWS shows no instances in it: how many were bought stands in this tag.
#: Source: EC2 User Guide, "View Capacity Blocks".
BOUGHT = "aws:ec2capacityreservation:incrementalRequestedQuantity"
_TO_COME = ("scheduled", "assessing", "delayed", "pending", "payment-pending")
_WORDS = {"default": "an on-demand reservation", "capacity-block": "a Capacity Block"}


def size(raw: Any) -> int | None:
    """Return the number of instances of a reservation; None where AWS does not say yet."""
    tagged = next((tag.get("Value", "") for tag in raw.get("Tags") or () if tag["Key"] == BOUGHT), "")
    committed = (raw.get("CommitmentInfo") or {}).get("CommittedInstanceCount", 0)
    told = [raw.get("TotalInstanceCount", 0), committed, int(tagged) if str(tagged).isdigit() else 0]
    return max(told) or None


def found(scene: Scene, reservation: str) -> Any | None:
    """Return one reservation; None where this account may see none of that id. Raises AwsRefusal."""
    try:
        answer = scene.aws.ask("ec2", "describe_capacity_reservations", CapacityReservationIds=[reservation])
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        return None
    return next(iter(answer["CapacityReservations"]), None)


@check("reservations and Capacity Blocks", "ec2:DescribeCapacityReservations")
def reservation(scene: Scene) -> Iterator[Finding]:
    """Every reservation exists, is usable, and is of the kind, type, zone, size, match and dates that the file says.

    What does not match is paid for all the same: launches go past it and fail, or are billed on top of it.
    Source: EC2 User Guide, "Capacity Reservations" and "Capacity Blocks for ML"; EC2 API reference,
    DescribeCapacityReservations.
    """
    wanted: dict[str, dict[str, int]] = defaultdict(dict)
    for one in scene.bought():
        if not isinstance(one.capacity, Reservation | CapacityBlock):
            continue
        raw = found(scene, one.capacity.reservation)
        if raw is None:
            message = (
                f"there is no reservation {one.capacity.reservation} in {scene.environment.region} for this account"
            )
            fix = "check the id and the account; a shared one must be accepted first"
            yield error("live-reservation", message, one.at("reservation"), fix)
            continue
        if scene.account is not None and raw.get("OwnerId", scene.account) != scene.account:
            message = (
                f"{one.capacity.reservation} is account {raw['OwnerId']}'s, and shared: it can take it back any day"
            )
            yield info("live-reservation", message, one.at("reservation"))
        yield from _kind_and_place(one, raw)
        yield from _state(scene, one, raw)
        if isinstance(one.capacity, CapacityBlock):
            yield from _dates(one, one.capacity, raw)
        yield from _count(one, raw)
        wanted[one.capacity.reservation][one.pool.name] = one.terms.bounds(one.pool)[1]
        total = sum(wanted[one.capacity.reservation].values())
        if len(wanted[one.capacity.reservation]) > 1 and (size(raw) or total) < total:
            pools = ", ".join(f"{name} {count}" for name, count in wanted[one.capacity.reservation].items())
            message = f"{one.capacity.reservation} has {size(raw)} instances, and its pools want {total} ({pools})"
            yield warning("live-reservation", message, one.at("reservation"), "the one that starts first gets them")


@check(
    "capacity that is paid for and not used", "ec2:DescribeCapacityReservations", "resource-groups:ListGroupResources"
)
def unused_capacity(scene: Scene) -> Iterator[Finding]:
    """Reservations of the pools' types that the account pays for are in the environment.

    Only to be known: another team may have bought it.
    Source: EC2 User Guide, "Capacity Reservation pricing and billing" (billed whether used or not).
    """
    named = {one.terms.market.reservation for one in scene.bought()} | set(_grouped(scene))
    kinds = {one.terms.instance: one for one in scene.bought()}
    for raw in scene.aws.all("ec2", "describe_capacity_reservations", "CapacityReservations"):
        one = kinds.get(raw["InstanceType"])
        idle = raw["State"] == "scheduled" or raw.get("AvailableInstanceCount", 0)
        if (
            one is not None
            and raw["State"] in ("active", "scheduled")
            and raw["CapacityReservationId"] not in named
            and idle
        ):
            kind = _WORDS.get(raw.get("ReservationType", "default"), "a reservation")
            where = raw.get("AvailabilityZoneId", raw.get("AvailabilityZone"))
            message = (
                f"{raw['CapacityReservationId']} is {kind} of {size(raw)} x {raw['InstanceType']} in {where}, "
                "with room, and no pool names it"
            )
            yield info("live-unused-capacity", message, one.pool_at("capacity"), "name it, if it is yours to use")


def _grouped(scene: Scene) -> Iterator[str]:
    """Return the reservations that the environment names through a group."""
    for group in {one.terms.market.reservation_group for one in scene.bought()} - {None}:
        try:
            members = scene.aws.all("resource-groups", "list_group_resources", "ResourceIdentifiers", Group=group)
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            continue
        yield from (str(member["ResourceArn"]).rpartition("/")[2] for member in members)


def _kind_and_place(one: Bought, raw: Any) -> Iterator[Finding]:
    name = raw["CapacityReservationId"]
    kind = raw.get("ReservationType", "default")
    block = isinstance(one.capacity, CapacityBlock)
    if (kind == "capacity-block") != block:
        fix = "write kind: capacity_block" if not block else "write kind: reservation"
        yield error("live-reservation", f"{name} is {_WORDS.get(kind, kind)}", one.at("kind"), fix)
    if raw["InstanceType"] != one.terms.instance:
        path = one.at("instance") if one.capacity.instance else one.pool_at("instance")
        message = f"{name} is for {raw['InstanceType']}, not for {one.terms.instance}"
        yield error("live-reservation", message, path, f"write {raw['InstanceType']}")
    zone = raw.get("AvailabilityZoneId")
    if zone is not None and zone not in one.terms.zones:
        yield error("live-reservation", f"{name} is in {zone}", one.at("zone"), f"write {zone}")
    if raw.get("InstancePlatform", "Linux/UNIX") != "Linux/UNIX":
        message = f"{name} is for {raw['InstancePlatform']}, and nodes run Linux/UNIX: no launch matches"
        yield error("live-reservation", message, one.at("reservation"))
    if raw.get("Tenancy", "default") != "default":
        message = f"{name} is for {raw['Tenancy']} tenancy, and nodes are shared-tenancy: no launch matches"
        yield error("live-reservation", message, one.at("reservation"))
    if isinstance(one.capacity, Reservation):
        match = raw.get("InstanceMatchCriteria", one.capacity.match)
        if match != one.capacity.match:
            message = f"{name} is {match}, and the file says {one.capacity.match}"
            yield error("live-reservation", message, one.at("match"), f"write match: {match}")
        group = str(raw.get("PlacementGroupArn", "")).rpartition("/")[2] or None
        if group != one.capacity.placement_group:
            told = f"was made in the placement group {group}" if group else "was made in no placement group"
            fix = f"write placement_group: {group}" if group else "leave placement_group out"
            yield error(
                "live-reservation", f"{name} {told}: only such launches find it", one.at("placement_group"), fix
            )


def _state(scene: Scene, one: Bought, raw: Any) -> Iterator[Finding]:
    name, state = raw["CapacityReservationId"], raw["State"]
    if state in _TO_COME:
        begins = raw.get("StartDate")
        when = f", from {begins:%Y-%m-%d %H:%M} UTC" if begins is not None else ""
        tell = warning if state == "payment-pending" else info
        yield tell(
            "live-reservation", f"{name} is {state}{when}: until then launches try what comes after it", one.at()
        )
    elif state != "active":
        yield error("live-reservation", f"{name} is {state}", one.at("reservation"), "remove it, or buy another")
    ends = raw.get("EndDate")
    if ends is not None and state == "active":
        left = ends - scene.now
        if left.total_seconds() < 24 * 3600:
            hours = max(0.0, left.total_seconds() / 3600)
            yield warning("live-reservation", f"{name} ends in {hours:.0f} hours", one.at("reservation"))


def _dates(one: Bought, capacity: CapacityBlock, raw: Any) -> Iterator[Finding]:
    for key, actual in (("starts", raw.get("StartDate")), ("ends", raw.get("EndDate"))):
        noted: datetime | None = getattr(capacity, key)
        if noted is None or actual is None:
            continue
        moment = noted if noted.tzinfo is not None else noted.replace(tzinfo=UTC)
        if abs((moment - actual).total_seconds()) >= 60:
            message = f"{raw['CapacityReservationId']} {key} at {actual:%Y-%m-%dT%H:%M}Z, the file says {moment:%Y-%m-%dT%H:%M%z}"
            yield error("live-reservation", message, one.at(key), f"write {actual:%Y-%m-%dT%H:%M:%SZ}")


def _count(one: Bought, raw: Any) -> Iterator[Finding]:
    name, actual = raw["CapacityReservationId"], size(raw)
    if actual is None:
        yield info("live-reservation", f"AWS does not say yet how many instances {name} has", one.at("reservation"))
        return
    noted = getattr(one.capacity, "count", None)
    if noted is not None and noted != actual:
        message = f"{name} has {actual} instances, and the file says {noted}"
        yield error("live-reservation", message, one.at("count"), f"write count: {actual}")
    if noted is None and isinstance(one.capacity, CapacityBlock) and one.pool.max_nodes != actual:
        more = "the others stay idle, paid for" if actual > one.pool.max_nodes else "the others never start from it"
        message = f"{name} has {actual} instances and {one.pool.name} has {one.pool.max_nodes} nodes: {more}"
        yield warning("live-reservation", message, one.pool_at("max_nodes"), f"max_nodes: {actual}, or count: {actual}")
    elif noted is None and len(one.pool.capacity) == 1 and one.pool.max_nodes > actual:
        message = f"{name} has {actual} instances, and {one.pool.name} may want {one.pool.max_nodes}"
        fix = f"max_nodes: {actual}, or on_demand after it"
        yield warning("live-reservation", message, one.pool_at("max_nodes"), fix)
