"""Checks of Capacity Reservation groups: configuration, and a member in every zone."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import ReservationGroup
from landbridge.findings import Finding
from landbridge.live.preflight.capacity import describe_reservation, size
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, warning

#: Configuration types that a group of reservations must have. Source: EC2 User Guide, "Capacity Reservation groups".
_POOL, _GENERIC = "AWS::EC2::CapacityReservationPool", "AWS::ResourceGroups::Generic"


@check(
    "groups of reservations",
    "resource-groups:GetGroup",
    "resource-groups:GetGroupConfiguration",
    "resource-groups:ListGroupResources",
    "ec2:DescribeCapacityReservations",
)
def reservation_group(scene: Scene) -> Iterator[Finding]:
    """A reservation group exists, is service-linked, and has a reservation of the type in every zone of the capacity.

    Launches into a group of another configuration (by tags, or for another purpose) fail. Launches in a zone without a
    member fail too, whatever the capacity of the other zones.
    Source: EC2 User Guide, "Use Capacity Reservation groups"; Resource Groups API reference, GetGroupConfiguration.
    """
    for bought in scene.bought():
        if not isinstance(bought.capacity, ReservationGroup):
            continue
        group = bought.capacity.group
        try:
            scene.aws.ask("resource-groups", "get_group", Group=group)
            configuration = scene.aws.ask("resource-groups", "get_group_configuration", Group=group)
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            if refused.code in ("NotFoundException", "NotFound"):
                yield error("live-reservation-group", f"there is no group {group}", bought.at("group"))
            else:
                yield _not_linked(bought, refused.message)
            continue
        kinds = {item["Type"] for item in configuration["GroupConfiguration"].get("Configuration") or ()}
        if not {_POOL, _GENERIC} <= kinds:
            yield _not_linked(bought, f"it is configured as {', '.join(sorted(kinds)) or 'nothing'}")
            continue
        yield from _members(scene, bought, group)


def _not_linked(bought: Bought, reason: str) -> Finding:
    message = f"the group is not configured for capacity reservations: {reason}"
    fix = f"aws resource-groups create-group --configuration Type={_POOL} Type={_GENERIC},Parameters=... creates one"
    return error("live-reservation-group", message, bought.at("group"), fix)


def _members(scene: Scene, bought: Bought, group: str) -> Iterator[Finding]:
    members: list[Any] = []
    for identifier in scene.aws.all("resource-groups", "list_group_resources", "ResourceIdentifiers", Group=group):
        raw = describe_reservation(scene, str(identifier["ResourceArn"]).rpartition("/")[2])
        if raw is not None and raw["State"] == "active" and raw["InstanceType"] == bought.terms.instance:
            members.append(raw)
    for index, zone in enumerate(bought.terms.zones):
        if not any(raw.get("AvailabilityZoneId") == zone for raw in members):
            message = f"the group has no active reservation of {bought.terms.instance} in {zone}"
            fix = "add one (aws resource-groups group-resources), or leave the zone out"
            yield error("live-reservation-group", message, bought.at("zones", index), fix)
    total = sum(size(raw) or 0 for raw in members if raw.get("AvailabilityZoneId") in bought.terms.zones)
    noted = bought.terms.size
    if members and noted is not None and noted != total:
        message = (
            f"the group has {total} instances of {bought.terms.instance} in these zones, and the file says {noted}"
        )
        yield error("live-reservation-group", message, bought.at("count"), f"write count: {total}")
    elif members and noted is None and len(bought.pool.capacity) == 1 and bought.pool.max_nodes > total:
        message = f"the group has {total} instances, and {bought.pool.name} may need {bought.pool.max_nodes}"
        yield warning("live-reservation-group", message, bought.pool_at("max_nodes"), f"max_nodes: {total}")
