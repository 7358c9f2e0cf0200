"""FSx operations that moto does not have: Lustre, OpenZFS and ONTAP file systems, associations, backups, and FSx's errors."""

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from math import inf
from typing import Any

from moto.core.utils import unix_time
from moto.ec2 import ec2_backends
from moto.fsx.responses import FSxResponse
from moto.kms import kms_backends

from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, render
from sandbox.aws_emulator.storage import fsx_associations as links
from sandbox.aws_emulator.storage import fsx_backups as backups
from sandbox.aws_emulator.storage import fsx_limits as limits
from sandbox.aws_emulator.storage import fsx_volumes as volumes
from sandbox.aws_emulator.storage.fsx_limits import bad

Action = Callable[[EmulatorState, Any, dict[str, Any]], dict[str, Any]]
_CONFIGURATION = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration", "ONTAP": "OntapConfiguration"}
_CHECKS = {"LUSTRE": limits.check_lustre, "OPENZFS": limits.check_openzfs, "ONTAP": limits.check_ontap}
#: Emulated members of UpdateFileSystem for each file system type.
_CHANGEABLE = {
    "LUSTRE": {
        "AutomaticBackupRetentionDays",
        "DailyAutomaticBackupStartTime",
        "DataCompressionType",
        "PerUnitStorageThroughput",
        "ThroughputCapacity",
        "WeeklyMaintenanceStartTime",
    },
    "OPENZFS": {
        "AutomaticBackupRetentionDays",
        "CopyTagsToBackups",
        "CopyTagsToVolumes",
        "DailyAutomaticBackupStartTime",
        "DiskIopsConfiguration",
        "ThroughputCapacity",
        "WeeklyMaintenanceStartTime",
    },
}


def install(emulator: EmulatorState) -> None:
    """Install FSx's operations in moto, for `emulator`."""
    for name, action in _ACTIONS.items():
        setattr(FSxResponse, name, _method(emulator, action))


def _method(emulator: EmulatorState, action: Action) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            with emulator.lock:
                return json.dumps(action(emulator, response, json.loads(response.body or b"{}")), default=str)
        except CloudError as error:
            emulator.errors[error.code] += 1
            _, headers, body = render(error, "fsx", "target")
            return error.status, {**headers, "status": error.status}, body.decode()

    return method


def _create(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    token = request.pop("ClientRequestToken", None)
    file_system = emulator.tokens.once(
        f"fsx/{response.region}", token, request, lambda: _create_file_system(emulator, response, request)
    )
    return {"FileSystem": {**file_system, "Lifecycle": "CREATING"}}


def _create_file_system(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    kind = request["FileSystemType"]
    if kind not in _CONFIGURATION:
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS has no FSx of type {kind}.")
    configuration: dict[str, Any] = dict(request.get(_CONFIGURATION[kind]) or {})
    _CHECKS[kind](request, configuration)
    _check_backup_days(configuration)
    subnets = _network(response, request)
    key = _key(response, request.get("KmsKeyId"))
    number = uuid.uuid4().hex[:17]
    file_system_id = f"fs-{number}"
    ec2 = ec2_backends[response.current_account][response.region]
    enis = [
        ec2.create_network_interface(
            subnet,
            [subnet.get_available_subnet_ip(None)],
            group_ids=request.get("SecurityGroupIds"),
            description=file_system_id,
        )
        for subnet in subnets
        for _ in range(_addresses_per_subnet(kind, request, configuration))
    ]
    if kind == "LUSTRE":
        configuration["MountName"] = (
            "fsx" if configuration.get("DeploymentType", "SCRATCH_1") == "SCRATCH_1" else number[:8]
        )
    elif kind == "OPENZFS":
        configuration["RootVolumeId"] = f"fsvol-{number}"
        configuration["EndpointIpAddress"] = enis[0].private_ip_address
    file_system: dict[str, Any] = {
        "FileSystemId": file_system_id,
        "FileSystemType": kind,
        "OwnerId": response.current_account,
        "CreationTime": unix_time(),
        "Lifecycle": "AVAILABLE",
        "StorageType": request.get("StorageType", "SSD"),
        "VpcId": subnets[0].vpc_id,
        "SubnetIds": request["SubnetIds"],
        "NetworkInterfaceIds": [eni.id for eni in enis],
        "DNSName": f"{file_system_id}.fsx.{response.region}.amazonaws.com",
        "ResourceARN": f"arn:aws:fsx:{response.region}:{response.current_account}:file-system/{file_system_id}",
        "KmsKeyId": key,
        "Tags": request.get("Tags", []),
        _CONFIGURATION[kind]: configuration,
        **{key: request[key] for key in ("StorageCapacity", "FileSystemTypeVersion") if key in request},
    }
    emulator.file_systems[(response.region, file_system_id)] = file_system
    if kind == "OPENZFS":
        volumes.add_root_volume(emulator, response.region, file_system)
    return file_system


def _addresses_per_subnet(kind: str, request: Mapping[str, Any], configuration: Mapping[str, Any]) -> int:
    """Return the number of addresses in each subnet: one, and for Lustre one more for each storage server."""
    if kind != "LUSTRE":
        return 1
    rows = facts().fsx_lustre.rows(str(configuration.get("DeploymentType", "SCRATCH_1")).lower(), "ssd")
    return 1 + (-(-request["StorageCapacity"] // rows[0].server_gib) if rows and "StorageCapacity" in request else 1)


def _network(response: Any, request: Mapping[str, Any]) -> list[Any]:
    """Return the subnets; raise InvalidNetworkSettings unless every security group is in their VPC."""
    ec2 = ec2_backends[response.current_account][response.region]
    known = {subnet.id: subnet for subnet in ec2.describe_subnets()}
    for subnet_id in request["SubnetIds"]:
        if subnet_id not in known:
            raise CloudError("InvalidNetworkSettings", f"The subnet ID '{subnet_id}' does not exist.")
    subnets = [known[subnet_id] for subnet_id in request["SubnetIds"]]
    for group_id in request.get("SecurityGroupIds") or []:
        group = ec2.get_security_group_from_id(group_id)
        if group is None or group.vpc_id != subnets[0].vpc_id:
            raise CloudError("InvalidNetworkSettings", f"The security group '{group_id}' does not exist in the VPC.")
    return subnets


def _key(response: Any, key: str | None) -> str:
    """Return the ARN of the KMS key; the AWS managed key if `key` is None."""
    kms = kms_backends[response.current_account][response.region]
    if key is None:
        return f"arn:aws:kms:{response.region}:{response.current_account}:key/aws-fsx"
    key_id = key.rpartition("/")[2]
    if key_id not in kms.keys:
        raise bad(f"The KMS key '{key}' does not exist.")
    return str(kms.keys[key_id].arn)


def _check_backup_days(configuration: Mapping[str, Any]) -> None:
    low, high = facts().fsx_lustre.backups.days
    if not low <= configuration.get("AutomaticBackupRetentionDays", 0) <= high:
        raise bad(f"AutomaticBackupRetentionDays must be between {low} and {high}.")


def _describe(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    file_system_ids = request.get("FileSystemIds") or [
        file_system_id for region, file_system_id in emulator.file_systems if region == response.region
    ]
    return {
        "FileSystems": [
            links.file_system(emulator, response.region, file_system_id) for file_system_id in file_system_ids
        ]
    }


def _update(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    system = links.file_system(emulator, response.region, request["FileSystemId"])
    kind = system["FileSystemType"]
    configuration, changes = system[_CONFIGURATION[kind]], request.get(_CONFIGURATION[kind]) or {}
    unknown = sorted(set(changes) - _CHANGEABLE.get(kind, set()))
    if unknown:
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS cannot change {', '.join(unknown)}.")
    merged = {**configuration, **changes}
    size: Any = request.get("StorageCapacity", system.get("StorageCapacity"))
    deployment = str(configuration.get("DeploymentType", "SCRATCH_1")).lower()
    scratch = deployment in facts().fsx_lustre.backups.not_on
    if scratch and "AutomaticBackupRetentionDays" in changes:
        raise bad("Backups are not supported on scratch file systems.")
    if changes.get("AutomaticBackupRetentionDays") and links.of(emulator, response.region, system["FileSystemId"]):
        raise bad("Automatic backups are not supported on a file system with a data repository association.")
    _check_backup_days(merged)
    if size != system.get("StorageCapacity"):
        _grow(emulator, system, deployment, size)
    if kind == "LUSTRE" and system["StorageType"] != "INTELLIGENT_TIERING":
        limits.lustre_size(deployment, system["StorageType"].lower(), size, merged.get("PerUnitStorageThroughput"))
    elif kind == "OPENZFS":
        limits.openzfs_throughput(deployment, merged["ThroughputCapacity"])
    configuration |= changes
    if size is not None:
        system["StorageCapacity"] = size
    return {"FileSystem": {**system, "Lifecycle": "UPDATING"}}


def _grow(emulator: EmulatorState, system: dict[str, Any], deployment: str, size: int) -> None:
    last = emulator.grown.get(system["FileSystemId"])
    limits.check_growth(system, deployment, size, inf if last is None else (emulator.now() - last) / timedelta(hours=1))
    emulator.grown[system["FileSystemId"]] = emulator.now()


def _delete(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    file_system_id = request["FileSystemId"]
    system = links.file_system(emulator, response.region, file_system_id)
    kind = system["FileSystemType"]
    options = request.get(_CONFIGURATION[kind]) or {}
    volumes.delete_with_file_system(emulator, response.region, file_system_id, options.get("Options") or ())
    # Source: FSx API Reference, DeleteFileSystem: the default is a final backup for OpenZFS, and none for Lustre and ONTAP.
    if not options.get("SkipFinalBackup", kind != "OPENZFS"):
        backups.back_up(emulator, response, system, options.get("FinalBackupTags") or system["Tags"])
    ec2 = ec2_backends[response.current_account][response.region]
    for eni in system["NetworkInterfaceIds"]:
        if eni in ec2.enis:
            network_interface = ec2.enis[eni]
            ec2.delete_network_interface(eni)
            network_interface.subnet.del_subnet_ip(network_interface.private_ip_address)
    for link in links.of(emulator, response.region, file_system_id):
        emulator.file_links.pop((response.region, link["AssociationId"]))
    emulator.file_systems.pop((response.region, file_system_id))
    return {"FileSystemId": file_system_id, "Lifecycle": "DELETING"}


_ACTIONS: dict[str, Action] = {
    "create_file_system": _create,
    "describe_file_systems": _describe,
    "update_file_system": _update,
    "delete_file_system": _delete,
    "create_storage_virtual_machine": volumes.create_machine,
    "describe_storage_virtual_machines": volumes.describe_machines,
    "delete_storage_virtual_machine": volumes.delete_machine,
    "create_volume": volumes.create_volume,
    "describe_volumes": volumes.describe_volumes,
    "delete_volume": volumes.delete_volume,
    "create_backup": backups.create,
    "describe_backups": backups.describe,
    "delete_backup": backups.delete,
    "create_data_repository_association": links.create,
    "describe_data_repository_associations": links.describe,
    "update_data_repository_association": links.update,
    "delete_data_repository_association": links.delete,
    "list_tags_for_resource": links.list_tags,
    "tag_resource": links.tag,
    "untag_resource": links.untag,
}
