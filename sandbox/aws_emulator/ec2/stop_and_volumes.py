"""Checks of StopInstances, AttachVolume and private addresses that EC2 makes and moto does not.

Source: EC2 API Reference, ModifyInstanceAttribute, AttachVolume, ModifyVolume and the error codes of RunInstances.
"""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from moto.ec2.models import EC2Backend

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.dependencies import error
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.moto_hooks import before

#: Changed only while the machine is stopped.
_AT_REST = ("instance_type", "user_data", "ebs_optimized")
_FLAGS = ("disable_api_termination", "disable_api_stop", "source_dest_check")


def install(world: EmulatorState) -> None:
    """Judge changes of instances and volumes before moto does them. Global to the process, as moto's own state is."""
    judges: Mapping[str, Callable[[Any, dict[str, Any]], None]] = {
        "modify_instance_attribute": _attribute,
        "attach_volume": _attach,
        "modify_volume": _modify,
    }
    for name, judge in judges.items():
        before(EC2Backend, name, judge)


def check_address(world: EmulatorState, subnet: Any, address: str | None) -> None:
    """Raise if the private address that a launch names is in use."""
    if address is None:
        return
    cidr, wanted = IPv4Network(str(subnet.cidr)), IPv4Address(address)
    if wanted not in cidr:
        raise CloudError("InvalidParameterValue", f"Address {address} does not fall within the subnet's address range")
    if int(wanted) < int(cidr.network_address) + 4 or wanted == cidr.broadcast_address:
        raise CloudError("InvalidParameterValue", f"Address {address} is in subnet's reserved address range")
    if address in subnet._subnet_ips or wanted in world.addresses.reserved:
        raise CloudError("InvalidIPAddress.InUse", f"Address {address} is in use.")


def _attribute(backend: Any, asked: dict[str, Any]) -> None:
    key = asked["key"]
    instance = backend.get_instance(asked["instance_id"])
    if key in _AT_REST and instance.state != "stopped":
        raise error("IncorrectInstanceState", f"The instance '{instance.id}' is not in the 'stopped' state.")
    if key in _FLAGS:
        asked["value"] = str(asked["value"]).lower() == "true"


def _attach(backend: Any, asked: dict[str, Any]) -> None:
    volume, instance = backend.get_volume(asked["volume_id"]), backend.get_instance(asked["instance_id"])
    if volume.attachment:
        raise error("VolumeInUse", f"{volume.id} is already attached to an instance")
    if volume.zone.name != instance.placement.zone:
        message = f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'"
        raise error("InvalidVolume.ZoneMismatch", message)
    if asked["device_path"] in instance.block_device_mapping:
        message = f"Invalid value '{asked['device_path']}' for unixDevice. Attachment point is already in use"
        raise error("InvalidParameterValue", message)
    if instance.state not in ("running", "stopped"):
        raise error("IncorrectState", f"Instance '{instance.id}' is not 'running'.")


def _modify(backend: Any, asked: dict[str, Any]) -> None:
    volume, size = backend.get_volume(asked["volume_id"]), asked.get("target_size")
    if size is not None and size < volume.size:
        message = f"New size cannot be smaller than existing size {volume.size}: volumes only grow."
        raise error("InvalidParameterValue", message)
