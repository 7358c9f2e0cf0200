"""Checks of reservations and Capacity Blocks: type, zone, size and dates."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import CapacityBlock, Reservation
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning

#: Tag with the number of instances bought; until a block begins, AWS reports no instances in it.
#: Source: EC2 User Guide, "View Capacity Blocks".
BOUGHT = "aws:ec2capacityreservation:incrementalRequestedQuantity"
_TO_COME = ("scheduled", "assessing", "delayed", "pending", "payment-pending")
_WORDS = {"default": "an on-demand reservation", "capacity-block": "a Capacity Block"}


def size(raw: Any) -> int | None:
    """Return the number of instances of a reservation; None if AWS does not report it yet."""
    tagged = next((tag.get("Value", "") for tag in raw.get("Tags") or () if tag["Key"] == BOUGHT), "")
    committed = (raw.get("CommitmentInfo") or {}).get("CommittedInstanceCount", 0)
    counts = [raw.get("TotalInstanceCount", 0), committed, int(tagged) if str(tagged).isdigit() else 0]
    return max(counts) or None


def describe_reservation(scene: Scene, reservation: str) -> Any | None:
    """Return the description of a reservation; None if this account cannot see it. Raises AwsRefusal."""
    try:
        answer = scene.aws.ask("ec2", "describe_capacity_reservations", CapacityReservationIds=[reservation])
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        return None
    return next(iter(answer["CapacityReservations"]), None)


@check("reservations and Capacity Blocks", "ec2:DescribeCapacityReservations")
def reservation(scene: Scene) -> Iterator[Finding]:
    """Every reservation exists, is usable, and has the kind, type, zone, size, match and dates in the file.

    A reservation that does not match is billed too: launches do not use it and fail, or are billed in addition.
    Source: EC2 User Guide, "Capacity Reservations" and "Capacity Blocks for ML"; EC2 API reference,
    DescribeCapacityReservations.
    """
    max_nodes: dict[str, dict[str, int]] = defaultdict(dict)
    for bought in scene.bought():
        if not isinstance(bought.capacity, Reservation | CapacityBlock):
            continue
        raw = describe_reservation(scene, bought.capacity.reservation)
        if raw is None:
            message = (
                f"there is no reservation {bought.capacity.reservation} in {scene.environment.region} for this account"
            )
            fix = "check the id and the account; a shared one must be accepted first"
            yield error("live-reservation", message, bought.at("reservation"), fix)
            continue
        if scene.account is not None and raw.get("OwnerId", scene.account) != scene.account:
            message = f"{bought.capacity.reservation} is account {raw['OwnerId']}'s, and shared: that account can end the sharing at any time"
            yield info("live-reservation", message, bought.at("reservation"))
        yield from _kind_and_place(bought, raw)
        yield from _state(scene, bought, raw)
        if isinstance(bought.capacity, CapacityBlock):
            yield from _dates(bought, bought.capacity, raw)
        yield from _count(bought, raw)
        max_nodes[bought.capacity.reservation][bought.pool.name] = bought.terms.bounds(bought.pool)[1]
        total = sum(max_nodes[bought.capacity.reservation].values())
        if len(max_nodes[bought.capacity.reservation]) > 1 and (size(raw) or total) < total:
            pools = ", ".join(f"{name} {count}" for name, count in max_nodes[bought.capacity.reservation].items())
            message = f"{bought.capacity.reservation} has {size(raw)} instances, and its pools need {total} ({pools})"
            yield warning("live-reservation", message, bought.at("reservation"), "the pool that starts first gets them")


@check(
    "capacity that is paid for and not used", "ec2:DescribeCapacityReservations", "resource-groups:ListGroupResources"
)
def unused_capacity(scene: Scene) -> Iterator[Finding]:
    """Every reservation of a pool's instance type that the account pays for is used by a pool.

    For information: the reservation may belong to another team.
    Source: EC2 User Guide, "Capacity Reservation pricing and billing" (billed whether used or not).
    """
    used_ids = {bought.terms.market.reservation for bought in scene.bought()} | set(_grouped(scene))
    by_type = {bought.terms.instance: bought for bought in scene.bought()}
    for raw in scene.aws.all("ec2", "describe_capacity_reservations", "CapacityReservations"):
        bought = by_type.get(raw["InstanceType"])
        idle = raw["State"] == "scheduled" or raw.get("AvailableInstanceCount", 0)
        if (
            bought is not None
            and raw["State"] in ("active", "scheduled")
            and raw["CapacityReservationId"] not in used_ids
            and idle
        ):
            kind = _WORDS.get(raw.get("ReservationType", "default"), "a reservation")
            zone = raw.get("AvailabilityZoneId", raw.get("AvailabilityZone"))
            message = (
                f"{raw['CapacityReservationId']} is {kind} of {size(raw)} x {raw['InstanceType']} in {zone}, "
                "with free instances, and no pool uses it"
            )
            yield info(
                "live-unused-capacity", message, bought.pool_at("capacity"), "add it to a pool, if your team may use it"
            )


def _grouped(scene: Scene) -> Iterator[str]:
    """Yield the ids of the reservations in the environment's reservation groups."""
    for group in {bought.terms.market.reservation_group for bought in scene.bought()} - {None}:
        try:
            members = scene.aws.all("resource-groups", "list_group_resources", "ResourceIdentifiers", Group=group)
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            continue
        yield from (str(member["ResourceArn"]).rpartition("/")[2] for member in members)


def _kind_and_place(bought: Bought, raw: Any) -> Iterator[Finding]:
    name = raw["CapacityReservationId"]
    kind = raw.get("ReservationType", "default")
    block = isinstance(bought.capacity, CapacityBlock)
    if (kind == "capacity-block") != block:
        fix = "write kind: capacity_block" if not block else "write kind: reservation"
        yield error("live-reservation", f"{name} is {_WORDS.get(kind, kind)}", bought.at("kind"), fix)
    if raw["InstanceType"] != bought.terms.instance:
        path = bought.at("instance") if bought.capacity.instance else bought.pool_at("instance")
        message = f"{name} is for {raw['InstanceType']}, not for {bought.terms.instance}"
        yield error("live-reservation", message, path, f"write {raw['InstanceType']}")
    zone = raw.get("AvailabilityZoneId")
    if zone is not None and zone not in bought.terms.zones:
        yield error("live-reservation", f"{name} is in {zone}", bought.at("zone"), f"write {zone}")
    if raw.get("InstancePlatform", "Linux/UNIX") != "Linux/UNIX":
        message = f"{name} is for {raw['InstancePlatform']}, and nodes run Linux/UNIX: no launch matches"
        yield error("live-reservation", message, bought.at("reservation"))
    if raw.get("Tenancy", "default") != "default":
        message = f"{name} is for {raw['Tenancy']} tenancy, and nodes are shared-tenancy: no launch matches"
        yield error("live-reservation", message, bought.at("reservation"))
    if isinstance(bought.capacity, Reservation):
        match = raw.get("InstanceMatchCriteria", bought.capacity.match)
        if match != bought.capacity.match:
            message = f"{name} is {match}, and the file says {bought.capacity.match}"
            yield error("live-reservation", message, bought.at("match"), f"write match: {match}")
        group = str(raw.get("PlacementGroupArn", "")).rpartition("/")[2] or None
        if group != bought.capacity.placement_group:
            origin = f"was made in the placement group {group}" if group else "was made in no placement group"
            fix = f"write placement_group: {group}" if group else "leave placement_group out"
            yield error(
                "live-reservation",
                f"{name} {origin}: only launches into the same group use it",
                bought.at("placement_group"),
                fix,
            )


def _state(scene: Scene, bought: Bought, raw: Any) -> Iterator[Finding]:
    name, state = raw["CapacityReservationId"], raw["State"]
    if state in _TO_COME:
        begins = raw.get("StartDate")
        when = f", from {begins:%Y-%m-%d %H:%M} UTC" if begins is not None else ""
        report = warning if state == "payment-pending" else info
        yield report(
            "live-reservation",
            f"{name} is {state}{when}: until then launches use the next capacity of the pool",
            bought.at(),
        )
    elif state != "active":
        yield error("live-reservation", f"{name} is {state}", bought.at("reservation"), "remove it, or buy another")
    ends = raw.get("EndDate")
    if ends is not None and state == "active":
        remaining = ends - scene.now
        if remaining.total_seconds() < 24 * 3600:
            hours = max(0.0, remaining.total_seconds() / 3600)
            yield warning("live-reservation", f"{name} ends in {hours:.0f} hours", bought.at("reservation"))


def _dates(bought: Bought, capacity: CapacityBlock, raw: Any) -> Iterator[Finding]:
    for key, actual in (("starts", raw.get("StartDate")), ("ends", raw.get("EndDate"))):
        noted: datetime | None = getattr(capacity, key)
        if noted is None or actual is None:
            continue
        moment = noted if noted.tzinfo is not None else noted.replace(tzinfo=UTC)
        if abs((moment - actual).total_seconds()) >= 60:
            message = f"{raw['CapacityReservationId']} {key} at {actual:%Y-%m-%dT%H:%M}Z, the file says {moment:%Y-%m-%dT%H:%M%z}"
            yield error("live-reservation", message, bought.at(key), f"write {actual:%Y-%m-%dT%H:%M:%SZ}")


def _count(bought: Bought, raw: Any) -> Iterator[Finding]:
    name, actual = raw["CapacityReservationId"], size(raw)
    if actual is None:
        yield info(
            "live-reservation", f"AWS does not report yet how many instances {name} has", bought.at("reservation")
        )
        return
    noted = getattr(bought.capacity, "count", None)
    if noted is not None and noted != actual:
        message = f"{name} has {actual} instances, and the file says {noted}"
        yield error("live-reservation", message, bought.at("count"), f"write count: {actual}")
    if noted is None and isinstance(bought.capacity, CapacityBlock) and bought.pool.max_nodes != actual:
        consequence = (
            "the other instances are billed and not used"
            if actual > bought.pool.max_nodes
            else "the other nodes never start from it"
        )
        message = (
            f"{name} has {actual} instances and {bought.pool.name} has {bought.pool.max_nodes} nodes: {consequence}"
        )
        yield warning(
            "live-reservation", message, bought.pool_at("max_nodes"), f"max_nodes: {actual}, or count: {actual}"
        )
    elif noted is None and len(bought.pool.capacity) == 1 and bought.pool.max_nodes > actual:
        message = f"{name} has {actual} instances, and {bought.pool.name} may need {bought.pool.max_nodes}"
        fix = f"max_nodes: {actual}, or on_demand after it"
        yield warning("live-reservation", message, bought.pool_at("max_nodes"), fix)
