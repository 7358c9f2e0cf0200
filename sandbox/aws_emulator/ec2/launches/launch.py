"""Launch of instances in moto with all data of the launch template, most of which moto ignores."""

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
from sandbox.aws_emulator.ec2 import cpu_options, images, metadata_tags, quotas
from sandbox.aws_emulator.ec2 import network_interfaces as nics
from sandbox.aws_emulator.ec2 import stop_and_volumes as machines
from sandbox.aws_emulator.ec2.instance_types import spot_price, zones_of
from sandbox.aws_emulator.ec2.launches.launch_template_data import merge_launch, primary_interface, tags_for
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


def template_version(backend: Any, request: Mapping[str, Any]) -> Any | None:
    """Return the launch template's version that a request specifies, or None."""
    reference = request.get("LaunchTemplate") or {}
    if not reference:
        return None
    template_id, name = reference.get("LaunchTemplateId"), reference.get("LaunchTemplateName")
    if bool(template_id) == bool(name):
        raise CloudError("InvalidParameterCombination", "Give the launch template's id or its name, and not both.")
    template = backend.get_launch_template(template_id) if template_id else backend.get_launch_template_by_name(name)
    return template.get_version(reference.get("Version") or "$Default")


def resolve(backend: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the launch parameters of `request` with its launch template (id or name, version) applied."""
    parameters = {key: value for key, value in request.items() if key != "LaunchTemplate"}
    version = template_version(backend, request)
    if version is None:
        plain = merge_launch({}, parameters)
        return plain | {"ImageId": resolved_image(backend, str(plain.get("ImageId") or ""))}
    launch = merge_launch(version.data, parameters)
    launch["ImageId"] = resolved_image(backend, str(launch.get("ImageId") or ""))
    aws_tags = {"aws:ec2launchtemplate:id": version.template.id, "aws:ec2launchtemplate:version": str(version.number)}
    tags = {"ResourceType": "instance", "Tags": [{"Key": k, "Value": v} for k, v in aws_tags.items()]}
    return launch | {"TagSpecifications": [*launch["TagSpecifications"], tags]}


def resolved_image(backend: Any, image: str) -> str:
    """Return an image id; `resolve:ssm:NAME` in a template is looked up at every launch."""
    name = image.removeprefix("resolve:ssm:")
    if name == image:
        return image
    parameter = get_backend("ssm")[backend.account_id][backend.region_name].get_parameter(name)
    if parameter is None:
        raise CloudError("InvalidAMIID.NotFound", f"No parameter '{name}' in the parameter store.")
    return str(parameter.value)


def place(emulator: EmulatorState, backend: Any, launch: Mapping[str, Any]) -> LaunchPlacement:
    """Check type, image and subnet as EC2 does before its capacity check; return the placement."""
    image, instance_type = launch.get("ImageId"), launch.get("InstanceType")
    if not image:
        raise CloudError("MissingParameter", "The request must contain the parameter ImageId")
    if not re.fullmatch(r"ami-[0-9a-f]{8}([0-9a-f]{9})?", str(image)):
        raise CloudError("InvalidAMIID.Malformed", f'Invalid id: "{image}"')
    if images.is_elsewhere(emulator, backend.region_name, str(image)):
        raise CloudError("InvalidAMIID.NotFound", f"The image id '[{image}]' does not exist")
    if not instance_type:
        raise CloudError("MissingParameter", "The request must contain the parameter InstanceType")
    subnet_id = primary_interface(launch).get("SubnetId")
    if not subnet_id:
        raise CloudError("MissingInput", "No subnet: neither the request nor the launch template contains one.")
    subnet = backend.get_subnet(subnet_id)
    zones = zones_of(emulator, backend.region_name, instance_type)
    if not zones:
        raise CloudError("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    if subnet.availability_zone not in zones:
        message = f"Your requested instance type ({instance_type}) is not supported in your requested Availability Zone"
        raise CloudError("Unsupported", f"{message} ({subnet.availability_zone}).")
    return LaunchPlacement(instance_type, subnet, subnet.availability_zone, subnet.availability_zone_id)


def room(emulator: EmulatorState, backend: Any, launch: Mapping[str, Any], placement: LaunchPlacement) -> int:
    """Return how many such instances could start now: limited by addresses, reservations and capacity."""
    each = nics.addresses(launch.get("NetworkInterfaces") or [])
    free = emulator.addresses.free(placement.subnet.cidr, placement.subnet._subnet_ips) // each
    if free < 1:
        message = f"There are not enough free addresses in subnet {placement.subnet.id}."
        raise CloudError("InsufficientFreeAddressesInSubnet", message)
    reserved, unused = reservations.admit(
        emulator, backend.region_name, launch, placement.instance_type, placement.zone_id
    )
    if reserved:
        return min(free, unused)
    return min(free, emulator.capacity.available(placement.instance_type, *_pools(launch, placement)))


def _pools(launch: Mapping[str, Any], placement: LaunchPlacement) -> list[str]:
    """Return the zones of pool entries that limit a launch: a test can set less capacity for spot than in total."""
    zones = [placement.zone, placement.zone_id]
    return [f"{zone}/spot" for zone in (*zones, "*")] + zones if market(launch) == "spot" else zones


def market(launch: Mapping[str, Any]) -> str | None:
    """Return the market of a launch; None is on-demand."""
    market_type: str | None = (launch.get("InstanceMarketOptions") or {}).get("MarketType")
    return market_type


def _check_price(emulator: EmulatorState, launch: Mapping[str, Any], placement: LaunchPlacement) -> None:
    """Raise SpotMaxPriceTooLow for a spot launch with a maximum price below the current price (USD/h)."""
    most = ((launch.get("InstanceMarketOptions") or {}).get("SpotOptions") or {}).get("MaxPrice")
    price = spot_price(emulator, placement.instance_type, placement.zone_id)
    if market(launch) == "spot" and most and float(most) < price:
        message = f"Your Spot request price of {most} is lower than the minimum required Spot request fulfillment price of {price}."
        raise CloudError("SpotMaxPriceTooLow", message)


def check(emulator: EmulatorState, backend: Any, launch: Mapping[str, Any], count: int) -> LaunchPlacement:
    """Check a launch as EC2 does, in EC2's order; a dry run does only this."""
    placement = place(emulator, backend, launch)
    _check_references(emulator, backend, launch)
    metadata_tags.check(launch)
    nics.check(placement.instance_type, launch.get("NetworkInterfaces") or [])
    cpu_options.check(placement.instance_type, launch.get("CpuOptions") or {})
    machines.check_address(emulator, placement.subnet, primary_interface(launch).get("PrivateIpAddress"))
    quotas.require(emulator, backend, placement.instance_type, market(launch) or "on-demand", count)
    _check_price(emulator, launch, placement)
    return placement


def run(
    emulator: EmulatorState,
    backend: Any,
    launch: Mapping[str, Any],
    minimum: int,
    maximum: int,
    token: str | None,
    failure: str = "",
) -> Any:
    """Start between `minimum` and `maximum` instances, as many as capacity allows; return moto's reservation. With a
    `failure` EC2 ends them with this reason.
    """
    placement = check(emulator, backend, launch, minimum)
    count = min(maximum, room(emulator, backend, launch, placement))
    if count < minimum or count < 1:
        raise insufficient_capacity(placement.instance_type, placement.zone)
    bucket = emulator.buckets.get("@instances")
    if bucket and not bucket.take(count):
        raise throttled("instances")
    reserved, _ = reservations.admit(emulator, backend.region_name, launch, placement.instance_type, placement.zone_id)
    reservation = _run_in_moto(backend, launch, placement, count, token)
    for instance in reservation.instances:
        if reserved:
            emulator.reserved[instance.id] = reserved
        else:
            entry = emulator.capacity.take(1, placement.instance_type, *_pools(launch, placement))
            emulator.capacity_keys[instance.id] = entry
        _take_addresses(emulator, placement, instance, nics.addresses(launch.get("NetworkInterfaces") or []) - 1)
    user_data = base64.b64decode(str(launch.get("UserData") or ""))
    tags = tags_for("instance", launch["TagSpecifications"])
    emulator.lifecycle.start(
        LaunchedInstance(
            i.id, placement.instance_type, i.private_ip, placement.zone, launch["ImageId"], tags, user_data, failure
        )
        for i in reservation.instances
    )
    for instance in reservation.instances if failure else ():
        release(emulator, instance)
    return reservation


def release(emulator: EmulatorState, instance: Any) -> None:
    """Give back the addresses, the reservation and the capacity of an instance that ends."""
    for nic in list(instance.nics.values()):
        nic.subnet.del_subnet_ip(nic.private_ip_address)
    for subnet, address in emulator.extra.pop(instance.id, []):
        subnet.del_subnet_ip(address)
    emulator.reserved.pop(instance.id, None)
    emulator.capacity.give_back(emulator.capacity_keys.pop(instance.id, None))


def refuse_terminated(reservation: Any) -> None:
    """Raise if an instance of the reservation that a repeated token returns has been terminated."""
    if any(instance.state in ("shutting-down", "terminated") for instance in reservation.instances):
        message = "The client token was used before, for a launch whose instance has been terminated."
        raise CloudError("IdempotentInstanceTerminated", message)


def _take_addresses(emulator: EmulatorState, placement: LaunchPlacement, instance: Any, count: int) -> None:
    """Take `count` addresses: one for each network interface that is not emulated."""
    for _ in range(count):
        address = emulator.addresses.choose(placement.subnet.cidr, placement.subnet._subnet_ips)
        placement.subnet._subnet_ips[address] = instance
        emulator.extra.setdefault(instance.id, []).append((placement.subnet, address))


def _check_references(emulator: EmulatorState, backend: Any, launch: Mapping[str, Any]) -> None:
    group = (launch.get("Placement") or {}).get("GroupName")
    if group and (backend.region_name, group) not in emulator.placement_groups:
        raise CloudError("InvalidPlacementGroup.Unknown", f"The Placement Group '{group}' is unknown.")
    image, instance_type = launch["ImageId"], str(launch["InstanceType"])
    known = images.known(emulator, backend.region_name).get(image)
    if known is None and image not in backend.amis:
        raise CloudError("InvalidAMIID.NotFound", f"The image id '[{image}]' does not exist")
    architecture = known["Architecture"] if known else backend.amis[image].architecture
    supported = (
        INSTANCE_TYPES.get(instance_type, {}).get("ProcessorInfo", {}).get("SupportedArchitectures", [architecture])
    )
    if architecture and architecture not in supported:
        message = f"The architecture '{'/'.join(supported)}' of the specified instance type does not match '{architecture}' of the AMI."
        raise CloudError("InvalidParameterValue", message)
    if known and known["State"] != "available":
        raise CloudError("InvalidAMIID.Unavailable", f"The image id '[{image}]' is not available")
    _check_disks(launch, known)


def _check_disks(launch: Mapping[str, Any], image: Mapping[str, Any] | None) -> None:
    """Raise if a volume is smaller than the image's snapshot; a larger volume is allowed."""
    for mapping in launch.get("BlockDeviceMappings") or []:
        size = int((mapping.get("Ebs") or {}).get("VolumeSize") or 0)
        image_disks = [
            m["Ebs"] for m in (image or {}).get("BlockDeviceMappings", []) if m["DeviceName"] == mapping["DeviceName"]
        ]
        if size and image_disks and size < image_disks[0]["VolumeSize"]:
            snapshot, least = image_disks[0]["SnapshotId"], image_disks[0]["VolumeSize"]
            message = f"Volume of size {size}GB is smaller than snapshot '{snapshot}', expect size >= {least}GB"
            raise CloudError("InvalidBlockDeviceMapping", message)


def _run_in_moto(
    backend: Any, launch: Mapping[str, Any], placement: LaunchPlacement, count: int, token: str | None
) -> Any:
    nic = primary_interface(launch)
    groups = list(nic.get("Groups") or [])
    nic |= {"SubnetId": placement.subnet.id, "DeleteOnTermination": True, "Groups": []}
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
        instance_type=placement.instance_type,
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
        instance.placement.availability_zone_id = placement.zone_id
        instance._state = InstanceState(*PENDING)
        instance.lifecycle = market(launch)
        for interface in instance.nics.values():
            interface.add_tags(tags_for("network-interface", specifications))
        if profile:
            backend.associate_iam_instance_profile(
                instance_id=instance.id,
                iam_instance_profile_name=profile.get("Name"),
                iam_instance_profile_arn=profile.get("Arn"),
            )
    return reservation
