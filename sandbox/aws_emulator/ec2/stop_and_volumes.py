"""Checks of StartInstances, StopInstances, AttachVolume and private addresses, which EC2 has and moto does not have.

Source: EC2 API Reference, ModifyInstanceAttribute, AttachVolume and the error codes of RunInstances.
"""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from moto.ec2.models import EC2Backend

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.server.errors import CloudError, insufficient_capacity
from sandbox.aws_emulator.server.moto_hooks import before

#: Attributes that can be changed only while the instance is stopped.
_STOPPED_ONLY = ("instance_type", "user_data", "ebs_optimized")
_FLAGS = ("disable_api_termination", "disable_api_stop", "source_dest_check")


def install(emulator: EmulatorState) -> None:
    """Install checks of changes of instances and volumes in moto. Global to the process, as moto's state is."""
    judges: Mapping[str, Callable[[Any, dict[str, Any]], None]] = {
        "modify_instance_attribute": _attribute,
        "attach_volume": _attach,
        "start_instances": lambda backend, arguments: _start(emulator, backend, arguments),
        "stop_instances": lambda backend, arguments: _stop(emulator, backend, arguments),
    }
    for name, judge in judges.items():
        before(EC2Backend, name, judge)


def check_address(emulator: EmulatorState, subnet: Any, address: str | None) -> None:
    """Raise if the private address of a launch is in use, reserved or outside the subnet."""
    if address is None:
        return
    cidr, ip_address = IPv4Network(str(subnet.cidr)), IPv4Address(address)
    if ip_address not in cidr:
        raise CloudError("InvalidParameterValue", f"Address {address} does not fall within the subnet's address range")
    if int(ip_address) < int(cidr.network_address) + 4 or ip_address == cidr.broadcast_address:
        raise CloudError("InvalidParameterValue", f"Address {address} is in subnet's reserved address range")
    if address in subnet._subnet_ips or ip_address in emulator.addresses.reserved:
        raise CloudError("InvalidIPAddress.InUse", f"Address {address} is in use.")


def _start(emulator: EmulatorState, backend: Any, arguments: dict[str, Any]) -> None:
    """Check states and capacity: a stopped instance holds none. Source: EC2 API Reference, StartInstances (2026-11-26)."""
    instances = [backend.get_instance(id_) for id_ in arguments["instance_ids"]]
    for instance in instances:
        if instance.state not in ("stopped", "running", "pending"):
            message = f"The instance '{instance.id}' is not in a state from which it can be started."
            raise error("IncorrectInstanceState", message)
    for instance in (each for each in instances if each.state == "stopped"):
        if emulator.capacity.available(instance.instance_type, instance.placement.zone) < 1:
            raise insufficient_capacity(instance.instance_type, instance.placement.zone)
        entry = emulator.capacity.take(1, instance.instance_type, instance.placement.zone)
        emulator.capacity_keys[instance.id] = entry


def _stop(emulator: EmulatorState, backend: Any, arguments: dict[str, Any]) -> None:
    for instance in (backend.get_instance(id_) for id_ in arguments["instance_ids"]):
        if instance.state == "running":
            emulator.capacity.give_back(emulator.capacity_keys.pop(instance.id, None))


def _attribute(backend: Any, arguments: dict[str, Any]) -> None:
    key = arguments["key"]
    instance = backend.get_instance(arguments["instance_id"])
    if key in _STOPPED_ONLY and instance.state != "stopped":
        raise error("IncorrectInstanceState", f"The instance '{instance.id}' is not in the 'stopped' state.")
    if key in _FLAGS:
        arguments["value"] = str(arguments["value"]).lower() == "true"


def _attach(backend: Any, arguments: dict[str, Any]) -> None:
    volume, instance = backend.get_volume(arguments["volume_id"]), backend.get_instance(arguments["instance_id"])
    if volume.attachment:
        raise error("VolumeInUse", f"{volume.id} is already attached to an instance")
    if volume.zone.name != instance.placement.zone:
        message = f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'"
        raise error("InvalidVolume.ZoneMismatch", message)
    if arguments["device_path"] in instance.block_device_mapping:
        message = f"Invalid value '{arguments['device_path']}' for unixDevice. Attachment point is already in use"
        raise error("InvalidParameterValue", message)
    if instance.state not in ("running", "stopped"):
        raise error("IncorrectState", f"Instance '{instance.id}' is not 'running'.")
