"""Checks of reservation groups: their configuration, and a member in every zone."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import ReservationGroup
from landbridge.findings import Finding
from landbridge.live.preflight.capacity import found, size
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, warning

#: What a group must be configured as to take reservations. Source: EC2 User Guide, "Capacity Reservation groups".
_POOL, _GENERIC = "AWS::EC2::CapacityReservationPool", "AWS::ResourceGroups::Generic"


@check(
    "groups of reservations",
    "resource-groups:GetGroup",
    "resource-groups:GetGroupConfiguration",
    "resource-groups:ListGroupResources",
    "ec2:DescribeCapacityReservations",
)
def reservation_group(scene: Scene) -> Iterator[Finding]:
    """A reservation group exists, is service-linked, and holds a reservation of the type in every zone named.

    A group made by tags, or in the console for another purpose, takes launches nowhere. Where a zone has no member the
    launch fails there, however much the other zones have.
    Source: EC2 User Guide, "Use Capacity Reservation groups"; Resource Groups API reference, GetGroupConfiguration.
    """
    for one in scene.bought():
        if not isinstance(one.capacity, ReservationGroup):
            continue
        group = one.capacity.group
        try:
            scene.aws.ask("resource-groups", "get_group", Group=group)
            configuration = scene.aws.ask("resource-groups", "get_group_configuration", Group=group)
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            if refused.code in ("NotFoundException", "NotFound"):
                yield error("live-reservation-group", f"there is no group {group}", one.at("group"))
            else:
                yield _not_linked(one, refused.message)
            continue
        kinds = {item["Type"] for item in configuration["GroupConfiguration"].get("Configuration") or ()}
        if not {_POOL, _GENERIC} <= kinds:
            yield _not_linked(one, f"it is configured as {', '.join(sorted(kinds)) or 'nothing'}")
            continue
        yield from _members(scene, one, group)


def _not_linked(one: Bought, told: str) -> Finding:
    message = f"the group is not configured for capacity reservations: {told}"
    fix = f"aws resource-groups create-group --configuration Type={_POOL} Type={_GENERIC},Parameters=... makes one"
    return error("live-reservation-group", message, one.at("group"), fix)


def _members(scene: Scene, one: Bought, group: str) -> Iterator[Finding]:
    there: list[Any] = []
    for identifier in scene.aws.all("resource-groups", "list_group_resources", "ResourceIdentifiers", Group=group):
        raw = found(scene, str(identifier["ResourceArn"]).rpartition("/")[2])
        if raw is not None and raw["State"] == "active" and raw["InstanceType"] == one.terms.instance:
            there.append(raw)
    for index, zone in enumerate(one.terms.zones):
        if not any(raw.get("AvailabilityZoneId") == zone for raw in there):
            message = f"the group has no active reservation of {one.terms.instance} in {zone}"
            fix = "add one (aws resource-groups group-resources), or leave the zone out"
            yield error("live-reservation-group", message, one.at("zones", index), fix)
    total = sum(size(raw) or 0 for raw in there if raw.get("AvailabilityZoneId") in one.terms.zones)
    noted = one.terms.size
    if there and noted is not None and noted != total:
        message = f"the group has {total} instances of {one.terms.instance} in these zones, and the file says {noted}"
        yield error("live-reservation-group", message, one.at("count"), f"write count: {total}")
    elif there and noted is None and len(one.pool.capacity) == 1 and one.pool.max_nodes > total:
        message = f"the group has {total} instances, and {one.pool.name} may want {one.pool.max_nodes}"
        yield warning("live-reservation-group", message, one.pool_at("max_nodes"), f"max_nodes: {total}")
