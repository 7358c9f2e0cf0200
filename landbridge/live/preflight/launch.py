"""Dry run: EC2 itself judges each pool's real launch, and starts nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog import instances
from landbridge.environment import CapacityBlock, Reservation
from landbridge.findings import DataPath, Finding
from landbridge.live.images import parameters
from landbridge.live.preflight.capacity import found as reservation_found
from landbridge.live.preflight.images import ami_of
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning
from landbridge.live.request import launch_request
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.instances.network_interfaces import pool_interfaces

#: Stands in for an image that is not built yet, where only the rest of the launch is the question.
#: Source: Amazon Linux 2023 User Guide, public parameters.
_STAND_IN = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}"
_QUOTA = ("VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded")
_CAPACITY = ("InsufficientInstanceCapacity", "ReservationCapacityExceeded", "InsufficientHostCapacity")
_INTERFACES = ("network interface", "network card", "device index", "interface type", "efa")


@dataclass(frozen=True, slots=True)
class Ground:
    """Subnet of a dry run: the environment's own, or the account's default one in its stead."""

    subnet: str
    own: bool


@check("a dry run of every launch", "ec2:RunInstances", "ec2:DescribeSubnets", "ec2:DescribeInstances",
       "ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ssm:GetParameters")  # fmt: skip
def launch(scene: Scene) -> Iterator[Finding]:
    """EC2 takes each pool's launch as it will be made: type, zone, every interface, image, disk, market and permissions.

    Only EC2 knows which layouts it takes today; it has changed its mind three times. The subnets are the environment's,
    or the account's default ones before `up` has made any.
    Source: EC2 API reference, RunInstances (DryRun), "Error codes".
    """
    images: dict[str, str | None] = {}
    for one in scene.bought():
        if one.pool.name not in images:
            images[one.pool.name] = ami_of(scene, one.pool) or _stand_in(scene, one)
        image = images[one.pool.name]
        if image is None:
            yield info("live-launch", f"{one.words}: no dry run without an image", one.pool_at("image"))
            continue
        if not _usable(scene, one):
            continue
        for zone in one.terms.zones:
            ground = _ground(scene, zone)
            if ground is None:
                message = f"{one.words}: no dry run in {zone}, which has no subnet to try it in"
                yield info("live-launch", message, one.at(), "run it again after `landbridge up`")
                continue
            yield from _try(scene, one, zone, ground, image)


def _try(scene: Scene, one: Bought, zone: str, ground: Ground, image: str) -> Iterator[Finding]:
    count = one.terms.bounds(one.pool)[1]
    refused = _dry_run(scene, one, ground, image, count)
    if refused is not None and refused.code in _QUOTA:
        # A quota is the region's: said once. Past it EC2 says nothing else, and one instance tells whether the rest is right.
        if zone == one.terms.zones[0]:
            yield _finding(one, None, refused, count)
        refused = _dry_run(scene, one, ground, image, 1) if count > 1 else None
    if refused is not None and refused.code not in _QUOTA:
        yield _finding(one, zone, refused, count)


def _dry_run(scene: Scene, one: Bought, ground: Ground, image: str, count: int) -> AwsRefusal | None:
    args = pool_args(scene.environment, one.pool, scene.lock.amis if scene.lock is not None else None)
    request = launch_request(
        args,
        one.terms,
        pool_interfaces(one.pool, one.terms.instance),
        subnet=ground.subnet,
        # In another VPC than the pool's, its groups do not exist.
        groups=one.pool.security_groups if ground.own else (),
        image=image,
        count=count,
        placement_group=one.terms.placement_group,
    )
    try:
        scene.aws.ask("ec2", "run_instances", DryRun=True, **request)
    except AwsRefusal as refused:
        if refused.code == "DryRunOperation":
            return None
        # EC2 says AuthFailure of an image that is not shared with the account, too.
        if refused.kind is RefusalKind.ANSWER or (
            refused.kind is RefusalKind.CREDENTIALS and scene.account is not None
        ):
            return refused
        raise
    return None


def _finding(one: Bought, zone: str | None, refused: AwsRefusal, count: int) -> Finding:
    where = f" in {zone}" if zone is not None else ""
    told = f"EC2 refuses {count} x {one.terms.instance}{where} ({one.terms.kind}): {refused.code}: {refused.message}"
    if refused.code in _CAPACITY:
        return warning("live-launch", told, one.at(), "capacity comes and goes; a reservation keeps it")
    if refused.code in _QUOTA:
        return error("live-launch", told, one.pool_at("max_nodes"), "ask for a higher quota, or fewer max_nodes")
    return error("live-launch", told, _path(one, refused))


def _path(one: Bought, refused: AwsRefusal) -> DataPath:
    """Return the path in the file that the refusal is about, as far as AWS's message tells."""
    words = refused.message.lower()
    if refused.code.startswith(("InvalidAMIID", "AuthFailure", "OptInRequired")) or "architecture" in words:
        return one.pool_at("image")
    if refused.code.startswith("InvalidBlockDeviceMapping"):
        return one.pool_at("root_volume_gib")
    if refused.code.startswith(("InvalidPlacementGroup", "InvalidGroup", "InvalidSecurityGroup")):
        return one.pool_at("placement_group" if "Placement" in refused.code else "security_groups")
    if any(word in words for word in _INTERFACES):
        return one.pool_at("interfaces" if one.pool.interfaces else "nics")
    if refused.code in ("Unsupported", "InvalidParameterValue", "InvalidInstanceType") and "type" in words:
        return one.pool_at("instance")
    return one.at()


def _usable(scene: Scene, one: Bought) -> bool:
    """Return false for bought capacity that does not exist yet: EC2 would only report it again."""
    if not isinstance(one.capacity, Reservation | CapacityBlock):
        return True
    raw = reservation_found(scene, one.capacity.reservation)
    return raw is not None and raw["State"] == "active"


def _ground(scene: Scene, zone: str) -> Ground | None:
    existing = scene.environment.aws.vpc
    if existing is not None:
        return Ground(existing.subnets[zone].id, own=True) if zone in existing.subnets else None
    for own, filters in ((True, scene.mine()), (False, [{"Name": "default-for-az", "Values": ["true"]}])):
        found: Any = scene.aws.all("ec2", "describe_subnets", "Subnets", Filters=filters)
        # Private ones first: nodes have no public address.
        for subnet in sorted(found, key=lambda one: bool(one.get("MapPublicIpOnLaunch", False))):
            if subnet["AvailabilityZoneId"] == zone:
                return Ground(subnet["SubnetId"], own=own)
    return None


def _stand_in(scene: Scene, one: Bought) -> str | None:
    known = instances().get(one.terms.instance)
    name = _STAND_IN.format(architecture=known.cpus.architecture if known is not None else "x86_64")
    found, _ = parameters(scene.aws, [name])
    return found[name].ami if name in found else None
