"""Dry run of each pool's launch: EC2 checks the request and starts no instance."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog import instances
from landbridge.environment import CapacityBlock, Reservation
from landbridge.findings import DataPath, Finding
from landbridge.live.images import parameters
from landbridge.live.preflight.capacity import describe_reservation
from landbridge.live.preflight.images import ami_of
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning
from landbridge.live.request import launch_request
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.instances.cpu_options import cpu_options
from landbridge.plan.instances.network_interfaces import pool_interfaces

#: SSM parameter of the image in a dry run while the pool's image is not built yet: the rest of the launch is checked.
#: Source: Amazon Linux 2023 User Guide, public parameters.
_STAND_IN = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}"
_QUOTA = ("VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded")
_CAPACITY = ("InsufficientInstanceCapacity", "ReservationCapacityExceeded", "InsufficientHostCapacity")
_INTERFACES = ("network interface", "network card", "device index", "interface type", "efa")


@dataclass(frozen=True, slots=True)
class DryRunSubnet:
    """Subnet of a dry run: one of the environment, or else the account's default subnet of the zone."""

    id: str
    is_of_environment: bool


@check("a dry run of every launch", "ec2:RunInstances", "ec2:DescribeSubnets", "ec2:DescribeInstances",
       "ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ssm:GetParameters")  # fmt: skip
def launch(scene: Scene) -> Iterator[Finding]:
    """EC2 accepts each pool's launch: type, zone, every interface, image, disk, market and permissions.

    Only EC2 knows which interface layouts it accepts; they have changed three times. The subnets are the environment's,
    or the account's default subnets before `up` has created any.
    Source: EC2 API reference, RunInstances (DryRun), "Error codes".
    """
    images: dict[str, str | None] = {}
    for bought in scene.bought():
        if bought.pool.name not in images:
            images[bought.pool.name] = ami_of(scene, bought.pool) or _stand_in(scene, bought)
        image = images[bought.pool.name]
        if image is None:
            yield info("live-launch", f"{bought.words}: no dry run without an image", bought.pool_at("image"))
            continue
        if not _usable(scene, bought):
            continue
        for zone in bought.terms.zones:
            subnet = _dry_run_subnet(scene, zone)
            if subnet is None:
                message = f"{bought.words}: no dry run in {zone}, which has no subnet"
                yield info("live-launch", message, bought.at(), "run it again after `landbridge up`")
                continue
            yield from _try(scene, bought, zone, subnet, image)


def _try(scene: Scene, bought: Bought, zone: str, subnet: DryRunSubnet, image: str) -> Iterator[Finding]:
    count = bought.terms.bounds(bought.pool)[1]
    refusal = _dry_run(scene, bought, subnet, image, count)
    if refusal is not None and refusal.code in _QUOTA:
        # A quota is the region's: one finding. Above it EC2 reports nothing else: one instance is enough to check the rest.
        if zone == bought.terms.zones[0]:
            yield _finding(bought, None, refusal, count)
        refusal = _dry_run(scene, bought, subnet, image, 1) if count > 1 else None
    if refusal is not None and refusal.code not in _QUOTA:
        yield _finding(bought, zone, refusal, count)


def _dry_run(scene: Scene, bought: Bought, subnet: DryRunSubnet, image: str, count: int) -> AwsRefusal | None:
    args = pool_args(scene.environment, bought.pool, scene.lock.amis if scene.lock is not None else None)
    request = launch_request(
        args,
        bought.terms,
        pool_interfaces(bought.pool, bought.terms.instance),
        subnet=subnet.id,
        # In another VPC than the pool's, its groups do not exist.
        groups=bought.pool.security_groups if subnet.is_of_environment else (),
        image=image,
        count=count,
        placement_group=bought.terms.placement_group,
        cpus=cpu_options(bought.pool, bought.terms.instance),
    )
    try:
        scene.aws.ask("ec2", "run_instances", DryRun=True, **request)
    except AwsRefusal as refused:
        if refused.code == "DryRunOperation":
            return None
        # EC2 answers AuthFailure also for an image that is not shared with the account.
        if refused.kind is RefusalKind.ANSWER or (
            refused.kind is RefusalKind.CREDENTIALS and scene.account is not None
        ):
            return refused
        raise
    return None


def _finding(bought: Bought, zone: str | None, refusal: AwsRefusal, count: int) -> Finding:
    in_zone = f" in {zone}" if zone is not None else ""
    message = f"EC2 refuses {count} x {bought.terms.instance}{in_zone} ({bought.terms.kind}): {refusal.code}: {refusal.message}"
    if refusal.code in _CAPACITY:
        return warning("live-launch", message, bought.at(), "available capacity changes; a reservation guarantees it")
    if refusal.code in _QUOTA:
        return error("live-launch", message, bought.pool_at("max_nodes"), "ask for a higher quota, or fewer max_nodes")
    return error("live-launch", message, _path(bought, refusal))


def _path(bought: Bought, refusal: AwsRefusal) -> DataPath:
    """Return the path in the file that the refusal is about, as far as AWS's message shows it."""
    words = refusal.message.lower()
    if refusal.code.startswith(("InvalidAMIID", "AuthFailure", "OptInRequired")) or "architecture" in words:
        return bought.pool_at("image")
    if refusal.code.startswith("InvalidBlockDeviceMapping"):
        return bought.pool_at("root_volume_gib")
    if refusal.code.startswith(("InvalidPlacementGroup", "InvalidGroup", "InvalidSecurityGroup")):
        return bought.pool_at("placement_group" if "Placement" in refusal.code else "security_groups")
    if any(word in words for word in _INTERFACES):
        return bought.pool_at("interfaces" if bought.pool.interfaces else "nics")
    if refusal.code in ("Unsupported", "InvalidParameterValue", "InvalidInstanceType") and "type" in words:
        return bought.pool_at("instance")
    return bought.at()


def _usable(scene: Scene, bought: Bought) -> bool:
    """Return false for bought capacity that does not exist yet: a dry run would only repeat the finding of another check."""
    if not isinstance(bought.capacity, Reservation | CapacityBlock):
        return True
    raw = describe_reservation(scene, bought.capacity.reservation)
    return raw is not None and raw["State"] == "active"


def _dry_run_subnet(scene: Scene, zone: str) -> DryRunSubnet | None:
    existing = scene.environment.aws.vpc
    if existing is not None:
        return DryRunSubnet(existing.subnets[zone].id, is_of_environment=True) if zone in existing.subnets else None
    for is_of_environment, filters in ((True, scene.mine()), (False, [{"Name": "default-for-az", "Values": ["true"]}])):
        subnets: Any = scene.aws.all("ec2", "describe_subnets", "Subnets", Filters=filters)
        # Private subnets first: nodes have no public address.
        for subnet in sorted(subnets, key=lambda subnet: bool(subnet.get("MapPublicIpOnLaunch", False))):
            if subnet["AvailabilityZoneId"] == zone:
                return DryRunSubnet(subnet["SubnetId"], is_of_environment=is_of_environment)
    return None


def _stand_in(scene: Scene, bought: Bought) -> str | None:
    known = instances().get(bought.terms.instance)
    name = _STAND_IN.format(architecture=known.cpus.architecture if known is not None else "x86_64")
    images, _ = parameters(scene.aws, [name])
    return images[name].ami if name in images else None
