"""FSx storage virtual machines (ONTAP) and volumes (ONTAP and OpenZFS)."""

import uuid
from collections.abc import Iterable
from typing import Any

from moto.core.utils import unix_time

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.storage.fsx_associations import file_system
from sandbox.aws_emulator.storage.fsx_limits import bad

#: Path of an OpenZFS root volume. Source: FSx for OpenZFS User Guide, "Managing volumes".
ROOT = "/fsx"


def add_root_volume(emulator: EmulatorState, region: str, system: dict[str, Any]) -> None:
    """Create the root volume of an OpenZFS file system."""
    configuration = system["OpenZFSConfiguration"]
    exports = (configuration.get("RootVolumeConfiguration") or {}).get("NfsExports") or [
        {"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt"]}]}
    ]
    volume_id = configuration["RootVolumeId"]
    settings = {"VolumePath": ROOT, "NfsExports": exports}
    emulator.file_volumes[(region, volume_id)] = _volume(system, volume_id, "OPENZFS", "fsx", settings)


def create_machine(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer CreateStorageVirtualMachine."""
    system = file_system(emulator, response.region, request["FileSystemId"])
    if system["FileSystemType"] != "ONTAP":
        raise bad("Storage virtual machines are supported on ONTAP file systems only.")
    machine_id = f"svm-{uuid.uuid4().hex[:17]}"
    machine = {
        "StorageVirtualMachineId": machine_id,
        "FileSystemId": system["FileSystemId"],
        "Name": request["Name"],
        "Lifecycle": "CREATED",
        "CreationTime": unix_time(),
        "Endpoints": {"Nfs": {"DNSName": f"{machine_id}.{system['DNSName']}"}},
    }
    emulator.file_machines[(response.region, machine_id)] = machine
    return {"StorageVirtualMachine": {**machine, "Lifecycle": "CREATING"}}


def describe_machines(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeStorageVirtualMachines."""
    machine_ids = request.get("StorageVirtualMachineIds") or _ids(emulator.file_machines, response.region)
    machines = [_machine(emulator, response.region, machine_id) for machine_id in machine_ids]
    return {"StorageVirtualMachines": _filtered(machines, request)}


def delete_machine(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DeleteStorageVirtualMachine."""
    machine = _machine(emulator, response.region, request["StorageVirtualMachineId"])
    machine_id = machine["StorageVirtualMachineId"]
    if any(_machine_of(volume) == machine_id for volume in emulator.file_volumes.values()):
        raise bad(f"The storage virtual machine '{machine_id}' has volumes.")
    del emulator.file_machines[(response.region, machine_id)]
    return {"StorageVirtualMachineId": machine_id, "Lifecycle": "DELETING"}


def create_volume(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer CreateVolume."""
    region, volume_id = response.region, f"fsvol-{uuid.uuid4().hex[:17]}"
    if request["VolumeType"] == "ONTAP":
        settings = dict(request["OntapConfiguration"])
        machine = _machine(emulator, region, settings["StorageVirtualMachineId"])
        junction = settings.get("JunctionPath")
        if junction is not None and not junction.startswith("/"):
            raise bad("JunctionPath must have a leading forward slash.")
        volumes = [volume for volume in emulator.file_volumes.values() if _machine_of(volume)]
        used_paths = {(_machine_of(volume), volume["OntapConfiguration"].get("JunctionPath")) for volume in volumes}
        if junction is not None and (machine["StorageVirtualMachineId"], junction) in used_paths:
            raise bad(f"The junction path '{junction}' is in use.")
        system = file_system(emulator, region, machine["FileSystemId"])
    elif request["VolumeType"] == "OPENZFS":
        settings = dict(request["OpenZFSConfiguration"])
        parent = _known_volume(emulator, region, settings["ParentVolumeId"])
        inherited = parent["OpenZFSConfiguration"]
        settings = {"NfsExports": inherited["NfsExports"], **settings}
        settings["VolumePath"] = f"{inherited['VolumePath']}/{request['Name']}"
        system = file_system(emulator, region, parent["FileSystemId"])
    else:
        raise bad(f"VolumeType {request['VolumeType']} is not valid.")
    volume = _volume(system, volume_id, request["VolumeType"], request["Name"], settings)
    emulator.file_volumes[(region, volume_id)] = volume
    return {"Volume": {**volume, "Lifecycle": "CREATING"}}


def describe_volumes(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeVolumes."""
    volume_ids = request.get("VolumeIds") or _ids(emulator.file_volumes, response.region)
    volumes = [_known_volume(emulator, response.region, volume_id) for volume_id in volume_ids]
    return {"Volumes": _filtered(volumes, request)}


def delete_volume(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DeleteVolume."""
    volume = _known_volume(emulator, response.region, request["VolumeId"])
    if (volume.get("OpenZFSConfiguration") or {}).get("VolumePath") == ROOT:
        raise bad("The root volume of a file system cannot be deleted.")
    del emulator.file_volumes[(response.region, volume["VolumeId"])]
    return {"VolumeId": volume["VolumeId"], "Lifecycle": "DELETING"}


def delete_with_file_system(
    emulator: EmulatorState, region: str, file_system_id: str, options: Iterable[str] = ()
) -> None:
    """Delete the volumes of a file system; raise BadRequest if FSx refuses to delete it with them.

    Source: FSx API Reference, DeleteFileSystem (OpenZFSConfiguration, Options) and its ONTAP requirements.
    """
    if any(machine["FileSystemId"] == file_system_id for machine in emulator.file_machines.values()):
        raise bad(f"The file system '{file_system_id}' has storage virtual machines.")
    volumes = {key: volume for key, volume in emulator.file_volumes.items() if volume["FileSystemId"] == file_system_id}
    children = [volume for volume in volumes.values() if volume["OpenZFSConfiguration"]["VolumePath"] != ROOT]
    if children and "DELETE_CHILD_VOLUMES_AND_SNAPSHOTS" not in options:
        raise bad(f"The file system '{file_system_id}' has volumes.")
    for key in volumes:
        del emulator.file_volumes[key]


def _volume(system: dict[str, Any], volume_id: str, kind: str, name: str, settings: dict[str, Any]) -> dict[str, Any]:
    configuration = {"ONTAP": "OntapConfiguration", "OPENZFS": "OpenZFSConfiguration"}[kind]
    return {
        "VolumeId": volume_id,
        "FileSystemId": system["FileSystemId"],
        "VolumeType": kind,
        "Name": name,
        "Lifecycle": "CREATED" if kind == "ONTAP" else "AVAILABLE",
        "CreationTime": unix_time(),
        configuration: settings,
    }


def _machine_of(volume: dict[str, Any]) -> str | None:
    machine: str | None = (volume.get("OntapConfiguration") or {}).get("StorageVirtualMachineId")
    return machine


def _machine(emulator: EmulatorState, region: str, machine_id: str) -> dict[str, Any]:
    machine = emulator.file_machines.get((region, machine_id))
    if machine is None:
        raise CloudError("StorageVirtualMachineNotFound", f"Storage virtual machine '{machine_id}' does not exist.")
    return machine


def _known_volume(emulator: EmulatorState, region: str, volume_id: str) -> dict[str, Any]:
    volume = emulator.file_volumes.get((region, volume_id))
    if volume is None:
        raise CloudError("VolumeNotFound", f"Volume '{volume_id}' does not exist.")
    return volume


def _ids(resources: dict[tuple[str, str], dict[str, Any]], region: str) -> list[str]:
    return [resource_id for resource_region, resource_id in resources if resource_region == region]


def _filtered(items: list[dict[str, Any]], request: dict[str, Any]) -> list[dict[str, Any]]:
    for condition in request.get("Filters") or ():
        if condition["Name"] == "file-system-id":
            items = [item for item in items if item["FileSystemId"] in condition["Values"]]
        elif condition["Name"] == "storage-virtual-machine-id":
            items = [item for item in items if _machine_of(item) in condition["Values"]]
        else:
            raise bad(f"The filter {condition['Name']} is not valid.")
    return items
