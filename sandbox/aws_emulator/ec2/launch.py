"""Launch instances in moto with all data of their launch template, most of which moto ignores."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.backends import get_backend
from moto.core.types import Base64EncodedString
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.models.instances import InstanceState

from sandbox.aws_emulator.ec2 import capacity_reservations as reservations
from sandbox.aws_emulator.ec2 import images, quotas
from sandbox.aws_emulator.ec2 import network_interfaces as nics
from sandbox.aws_emulator.ec2 import stop_and_volumes as machines
from sandbox.aws_emulator.ec2.instance_types import spot_price, zones_of
from sandbox.aws_emulator.ec2.launch_template_data import merge_launch, primary_interface, tags_for
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances.launcher import LaunchedInstance
from sandbox.aws_emulator.instances.lifecycle import PENDING
from sandbox.aws_emulator.server.errors import CloudError, insufficient_capacity, throttled


@dataclass(frozen=True)
class LaunchPlacement:
    """Placement of a launch: subnet, zone, instance type, market."""

    instance_type: str
    subnet: Any
    zone: str
    zone_id: str


def resolve(backend: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """The effective launch parameters of `request`, its LaunchTemplate (id or name, version) applied."""
    reference = request.get("LaunchTemplate") or {}
    rest = {key: value for key, value in request.items() if key != "LaunchTemplate"}
    if not reference:
        plain = merge_launch({}, rest)
        return plain | {"ImageId": _image(backend, str(plain.get("ImageId") or ""))}
    template_id, name = reference.get("LaunchTemplateId"), reference.get("LaunchTemplateName")
    if bool(template_id) == bool(name):
        raise CloudError("InvalidParameterCombination", "Give the launch template's id or its name, and not both.")
    template = backend.get_launch_template(template_id) if template_id else backend.get_launch_template_by_name(name)
    version = template.get_version(reference.get("Version") or "$Default")
    launch = merge_launch(version.data, rest)
    launch["ImageId"] = _image(backend, str(launch.get("ImageId") or ""))
    own = {"aws:ec2launchtemplate:id": template.id, "aws:ec2launchtemplate:version": str(version.number)}
    tags = {"ResourceType": "instance", "Tags": [{"Key": k, "Value": v} for k, v in own.items()]}
    return launch | {"TagSpecifications": [*launch["TagSpecifications"], tags]}


def _image(backend: Any, image: str) -> str:
    """An image id; `resolve:ssm:NAME` in a template is looked up at every launch."""
    name = image.removeprefix("resolve:ssm:")
    if name == image:
        return image
    parameter = get_backend("ssm")[backend.account_id][backend.region_name].get_parameter(name)
    if parameter is None:
        raise CloudError("InvalidAMIID.NotFound", f"No parameter '{name}' in the parameter store.")
    return str(parameter.value)


def place(world: EmulatorState, backend: Any, launch: Mapping[str, Any]) -> LaunchPlacement:
    """Check type, image and subnet as EC2 does before it looks for capacity."""
    image, kind = launch.get("ImageId"), launch.get("InstanceType")
    if not image:
        raise CloudError("MissingParameter", "The request must contain the parameter ImageId")
    if not re.fullmatch(r"ami-[0-9a-f]{8}([0-9a-f]{9})?", str(image)):
        raise CloudError("InvalidAMIID.Malformed", f'Invalid id: "{image}"')
    if images.is_elsewhere(world, backend.region_name, str(image)):
        raise CloudError("InvalidAMIID.NotFound", f"The image id '[{image}]' does not exist")
    if not kind:
        raise CloudError("MissingParameter", "The request must contain the parameter InstanceType")
    subnet_id = primary_interface(launch).get("SubnetId")
    if not subnet_id:
        raise CloudError("MissingInput", "No subnet: neither the request nor the launch template names one.")
    subnet = backend.get_subnet(subnet_id)
    zones = zones_of(world, backend.region_name, kind)
    if not zones:
        raise CloudError("InvalidParameterValue", f"Invalid value '{kind}' for InstanceType.")
    if subnet.availability_zone not in zones:
        message = f"Your requested instance type ({kind}) is not supported in your requested Availability Zone"
        raise CloudError("Unsupported", f"{message} ({subnet.availability_zone}).")
    return LaunchPlacement(kind, subnet, subnet.availability_zone, subnet.availability_zone_id)


def room(world: EmulatorState, backend: Any, launch: Mapping[str, Any], where: LaunchPlacement) -> int:
    """Return how many such instances could start now: limited by addresses, reservations and capacity."""
    each = nics.addresses(launch.get("NetworkInterfaces") or [])
    free = world.addresses.free(where.subnet.cidr, where.subnet._subnet_ips) // each
    if free < 1:
        message = f"There are not enough free addresses in subnet {where.subnet.id}."
        raise CloudError("InsufficientFreeAddressesInSubnet", message)
    reserved, left = reservations.admit(world, backend.region_name, launch, where.instance_type, where.zone_id)
    if reserved:
        return min(free, left)
    return min(free, world.capacity.available(where.instance_type, *_pools(launch, where)))


def _pools(launch: Mapping[str, Any], where: LaunchPlacement) -> list[str]:
    """Entries of the capacity pools that may limit a launch: a test may set less capacity for spot than in total."""
    zones = [where.zone, where.zone_id]
    return [f"{zone}/spot" for zone in (*zones, "*")] + zones if _market(launch) == "spot" else zones


def _market(launch: Mapping[str, Any]) -> str | None:
    market: str | None = (launch.get("InstanceMarketOptions") or {}).get("MarketType")
    return market


def _check_price(world: EmulatorState, launch: Mapping[str, Any], where: LaunchPlacement) -> None:
    """A spot launch that offers less than the price of the moment."""
    most = ((launch.get("InstanceMarketOptions") or {}).get("SpotOptions") or {}).get("MaxPrice")
    price = spot_price(world, where.instance_type, where.zone_id)
    if _market(launch) == "spot" and most and float(most) < price:
        message = f"Your Spot request price of {most} is lower than the minimum required Spot request fulfillment price of {price}."
        raise CloudError("SpotMaxPriceTooLow", message)


def check(world: EmulatorState, backend: Any, launch: Mapping[str, Any], count: int) -> LaunchPlacement:
    """Check a launch as EC2 does, in EC2's order; a dry run is answered from here."""
    where = place(world, backend, launch)
    _check_references(world, backend, launch)
    nics.check(where.instance_type, launch.get("NetworkInterfaces") or [])
    machines.check_address(world, where.subnet, primary_interface(launch).get("PrivateIpAddress"))
    quotas.require(world, backend, where.instance_type, _market(launch) or "on-demand", count)
    _check_price(world, launch, where)
    return where


def run(
    world: EmulatorState, backend: Any, launch: Mapping[str, Any], minimum: int, maximum: int, token: str | None
) -> Any:
    """Start between `minimum` and `maximum` instances, as many as capacity allows; return moto's reservation."""
    where = check(world, backend, launch, minimum)
    count = min(maximum, room(world, backend, launch, where))
    if count < minimum or count < 1:
        raise insufficient_capacity(where.instance_type, where.zone)
    bucket = world.buckets.get("@instances")
    if bucket and not bucket.take(count):
        raise throttled("instances")
    reserved, _ = reservations.admit(world, backend.region_name, launch, where.instance_type, where.zone_id)
    reservation = _run_in_moto(backend, launch, where, count, token)
    for instance in reservation.instances:
        if reserved:
            world.reserved[instance.id] = reserved
        else:
            held = world.capacity.take(1, where.instance_type, *_pools(launch, where))
            world.capacity_keys[instance.id] = held
        _take_addresses(world, where, instance, nics.addresses(launch.get("NetworkInterfaces") or []) - 1)
    user_data = base64.b64decode(str(launch.get("UserData") or ""))
    tags = tags_for("instance", launch["TagSpecifications"])
    world.lifecycle.start(
        LaunchedInstance(i.id, where.instance_type, i.private_ip, where.zone, launch["ImageId"], tags, user_data)
        for i in reservation.instances
    )
    return reservation


def _take_addresses(world: EmulatorState, where: LaunchPlacement, instance: Any, count: int) -> None:
    """Addresses of the interfaces that are not emulated but take one each."""
    for _ in range(count):
        address = world.addresses.choose(where.subnet.cidr, where.subnet._subnet_ips)
        where.subnet._subnet_ips[address] = instance
        world.extra.setdefault(instance.id, []).append((where.subnet, address))


def _check_references(world: EmulatorState, backend: Any, launch: Mapping[str, Any]) -> None:
    group = (launch.get("Placement") or {}).get("GroupName")
    if group and (backend.region_name, group) not in world.placement_groups:
        raise CloudError("InvalidPlacementGroup.Unknown", f"The Placement Group '{group}' is unknown.")
    image, kind = launch["ImageId"], str(launch["InstanceType"])
    known = images.known(world, backend.region_name).get(image)
    if known is None and image not in backend.amis:
        raise CloudError("InvalidAMIID.NotFound", f"The image id '[{image}]' does not exist")
    built = known["Architecture"] if known else backend.amis[image].architecture
    runs = INSTANCE_TYPES.get(kind, {}).get("ProcessorInfo", {}).get("SupportedArchitectures", [built])
    if built and built not in runs:
        message = (
            f"The architecture '{'/'.join(runs)}' of the specified instance type does not match '{built}' of the AMI."
        )
        raise CloudError("InvalidParameterValue", message)
    if known and known["State"] != "available":
        raise CloudError("InvalidAMIID.Unavailable", f"The image id '[{image}]' is not available")
    _check_disks(launch, known)


def _check_disks(launch: Mapping[str, Any], image: Mapping[str, Any] | None) -> None:
    """A root volume may be larger than the image's snapshot, never smaller."""
    for mapping in launch.get("BlockDeviceMappings") or []:
        size = int((mapping.get("Ebs") or {}).get("VolumeSize") or 0)
        own = [
            m["Ebs"] for m in (image or {}).get("BlockDeviceMappings", []) if m["DeviceName"] == mapping["DeviceName"]
        ]
        if size and own and size < own[0]["VolumeSize"]:
            snapshot, least = own[0]["SnapshotId"], own[0]["VolumeSize"]
            message = f"Volume of size {size}GB is smaller than snapshot '{snapshot}', expect size >= {least}GB"
            raise CloudError("InvalidBlockDeviceMapping", message)


def _run_in_moto(backend: Any, launch: Mapping[str, Any], where: LaunchPlacement, count: int, token: str | None) -> Any:
    nic = primary_interface(launch)
    groups = list(nic.get("Groups") or [])
    nic |= {"SubnetId": where.subnet.id, "DeleteOnTermination": True, "Groups": []}
    profile = launch.get("IamInstanceProfile") or {}
    specifications = launch["TagSpecifications"]
    options: dict[str, Any] = {}
    if launch.get("BlockDeviceMappings"):
        options["block_device_mappings"] = [m for m in launch["BlockDeviceMappings"] if m.get("Ebs")]
    reservation = backend.run_instances(
        launch["ImageId"],
        count,
        Base64EncodedString(str(launch["UserData"])) if launch.get("UserData") else None,
        list(launch.get("SecurityGroups") or []),
        instance_type=where.instance_type,
        is_instance_type_default=False,
        region_name=backend.region_name,
        key_name=launch.get("KeyName"),
        security_group_ids=groups,
        nics=[nic],
        tags={kind: tags_for(kind, specifications) for kind in ("instance", "volume")},
        instance_initiated_shutdown_behavior=launch.get("InstanceInitiatedShutdownBehavior"),
        disable_api_termination=str(launch.get("DisableApiTermination", "")).lower() == "true",
        ebs_optimized=launch.get("EbsOptimized") or False,
        metadata_options=launch.get("MetadataOptions") or {},
        instance_market_options=(launch.get("InstanceMarketOptions") or {}).get("MarketType"),
        client_token=token,
        **options,
    )
    for instance in reservation.instances:
        instance.placement.group_name = (launch.get("Placement") or {}).get("GroupName", "")
        instance.placement.availability_zone_id = where.zone_id
        instance._state = InstanceState(*PENDING)
        instance.lifecycle = _market(launch)
        for one in instance.nics.values():
            one.add_tags(tags_for("network-interface", specifications))
        if profile:
            backend.associate_iam_instance_profile(
                instance_id=instance.id,
                iam_instance_profile_name=profile.get("Name"),
                iam_instance_profile_arn=profile.get("Arn"),
            )
    return reservation
