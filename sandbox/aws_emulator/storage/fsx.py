"""FSx beyond moto: Lustre and OpenZFS file systems, their data repository associations, and FSx's errors."""

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
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
from sandbox.aws_emulator.storage.fsx_limits import bad

Action = Callable[[EmulatorState, Any, dict[str, Any]], dict[str, Any]]
_CONFIGURATION = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}
#: Emulated members of UpdateFileSystem for each kind.
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


def install(world: EmulatorState) -> None:
    """Answer FSx's operations for `world`."""
    for name, action in _ACTIONS.items():
        setattr(FSxResponse, name, _method(world, action))


def _method(world: EmulatorState, action: Action) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            with world.lock:
                return json.dumps(action(world, response, json.loads(response.body or b"{}")), default=str)
        except CloudError as error:
            world.errors[error.code] += 1
            _, headers, body = render(error, "fsx", "target")
            return error.status, {**headers, "status": error.status}, body.decode()

    return method


def _create(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    token = request.pop("ClientRequestToken", None)
    made = world.tokens.once(f"fsx/{response.region}", token, request, lambda: _make(world, response, request))
    return {"FileSystem": {**made, "Lifecycle": "CREATING"}}


def _make(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    kind = request["FileSystemType"]
    if kind not in _CONFIGURATION:
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS has no FSx of type {kind}.")
    own = dict(request.get(_CONFIGURATION[kind]) or {})
    (limits.check_lustre if kind == "LUSTRE" else limits.check_openzfs)(request, own)
    _backup_days(own)
    subnets = _network(response, request)
    key = _key(response, request.get("KmsKeyId"))
    number = uuid.uuid4().hex[:17]
    one = f"fs-{number}"
    ec2 = ec2_backends[response.current_account][response.region]
    enis = [
        ec2.create_network_interface(
            subnet, [subnet.get_available_subnet_ip(None)], group_ids=request.get("SecurityGroupIds"), description=one
        )
        for subnet in subnets
        for _ in range(_servers(kind, request, own))
    ]
    if kind == "LUSTRE":
        own["MountName"] = "fsx" if own.get("DeploymentType", "SCRATCH_1") == "SCRATCH_1" else number[:8]
    else:
        own |= {"RootVolumeId": f"fsvol-{number}", "EndpointIpAddress": enis[0].private_ip_address}
    found = {
        "FileSystemId": one,
        "FileSystemType": kind,
        "OwnerId": response.current_account,
        "CreationTime": unix_time(),
        "Lifecycle": "AVAILABLE",
        "StorageType": request.get("StorageType", "SSD"),
        "VpcId": subnets[0].vpc_id,
        "SubnetIds": request["SubnetIds"],
        "NetworkInterfaceIds": [eni.id for eni in enis],
        "DNSName": f"{one}.fsx.{response.region}.amazonaws.com",
        "ResourceARN": f"arn:aws:fsx:{response.region}:{response.current_account}:file-system/{one}",
        "KmsKeyId": key,
        "Tags": request.get("Tags", []),
        _CONFIGURATION[kind]: own,
        **{key: request[key] for key in ("StorageCapacity", "FileSystemTypeVersion") if key in request},
    }
    world.file_systems[(response.region, one)] = found
    return found


def _servers(kind: str, request: Mapping[str, Any], own: Mapping[str, Any]) -> int:
    """Return the number of its addresses in each subnet: one, and for Lustre one more for each of its storage servers."""
    if kind != "LUSTRE":
        return 1
    rows = facts().fsx_lustre.rows(str(own.get("DeploymentType", "SCRATCH_1")).lower(), "ssd")
    return 1 + (-(-request["StorageCapacity"] // rows[0].server_gib) if rows and "StorageCapacity" in request else 1)


def _network(response: Any, request: Mapping[str, Any]) -> list[Any]:
    """The subnets; every group must be in their VPC."""
    ec2 = ec2_backends[response.current_account][response.region]
    known = {subnet.id: subnet for subnet in ec2.describe_subnets()}
    for one in request["SubnetIds"]:
        if one not in known:
            raise CloudError("InvalidNetworkSettings", f"The subnet ID '{one}' does not exist.")
    subnets = [known[one] for one in request["SubnetIds"]]
    for one in request.get("SecurityGroupIds") or []:
        group = ec2.get_security_group_from_id(one)
        if group is None or group.vpc_id != subnets[0].vpc_id:
            raise CloudError("InvalidNetworkSettings", f"The security group '{one}' does not exist in the VPC.")
    return subnets


def _key(response: Any, wanted: str | None) -> str:
    """The key's ARN; AWS's own where none is named."""
    kms = kms_backends[response.current_account][response.region]
    if wanted is None:
        return f"arn:aws:kms:{response.region}:{response.current_account}:key/aws-fsx"
    one = wanted.rpartition("/")[2]
    if one not in kms.keys:
        raise bad(f"The KMS key '{wanted}' does not exist.")
    return str(kms.keys[one].arn)


def _backup_days(own: Mapping[str, Any]) -> None:
    low, high = facts().fsx_lustre.backups.days
    if not low <= own.get("AutomaticBackupRetentionDays", 0) <= high:
        raise bad(f"AutomaticBackupRetentionDays must be between {low} and {high}.")


def _describe(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    file_system_ids = request.get("FileSystemIds") or [
        one for region, one in world.file_systems if region == response.region
    ]
    return {"FileSystems": [links.file_system(world, response.region, one) for one in file_system_ids]}


def _update(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    system = links.file_system(world, response.region, request["FileSystemId"])
    kind = system["FileSystemType"]
    own, news = system[_CONFIGURATION[kind]], request.get(_CONFIGURATION[kind]) or {}
    unknown = sorted(set(news) - _CHANGEABLE[kind])
    if unknown:
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS cannot change {', '.join(unknown)}.")
    merged, size = {**own, **news}, request.get("StorageCapacity", system.get("StorageCapacity"))
    deployment = str(own.get("DeploymentType", "SCRATCH_1")).lower()
    scratch = deployment in facts().fsx_lustre.backups.not_on
    if scratch and "AutomaticBackupRetentionDays" in news:
        raise bad("Backups are not supported on scratch file systems.")
    if news.get("AutomaticBackupRetentionDays") and links.of(world, response.region, system["FileSystemId"]):
        raise bad("Automatic backups are not supported on a file system with a data repository association.")
    _backup_days(merged)
    if size != system.get("StorageCapacity"):
        _may_grow(world, system, deployment, size)
    if kind == "LUSTRE" and system["StorageType"] != "INTELLIGENT_TIERING":
        limits.lustre_size(deployment, system["StorageType"].lower(), size, merged.get("PerUnitStorageThroughput"))
    elif kind == "OPENZFS":
        limits.openzfs_throughput(deployment, merged["ThroughputCapacity"])
    own |= news
    if size is not None:
        system["StorageCapacity"] = size
    return {"FileSystem": {**system, "Lifecycle": "UPDATING"}}


def _may_grow(world: EmulatorState, system: dict[str, Any], deployment: str, size: int) -> None:
    if deployment == "scratch_1":
        raise bad("StorageCapacity cannot be changed on deployment type SCRATCH_1.")
    limits.check_growth(system["StorageCapacity"], size)
    last, rest = world.grown.get(system["FileSystemId"]), timedelta(seconds=limits.REST_SECONDS)
    if last is not None and world.now() < last + rest:
        raise bad("StorageCapacity can be changed again six hours after the last change.")
    world.grown[system["FileSystemId"]] = world.now()


def _delete(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    file_system_id = request["FileSystemId"]
    system = links.file_system(world, response.region, file_system_id)
    kind = system["FileSystemType"]
    how = request.get(_CONFIGURATION[kind]) or {}
    # Source: FSx API Reference, DeleteFileSystem: Lustre takes a last backup only where it is asked to, OpenZFS always.
    if not how.get("SkipFinalBackup", kind == "LUSTRE"):
        backups.keep(world, response, system, how.get("FinalBackupTags") or system["Tags"])
    ec2 = ec2_backends[response.current_account][response.region]
    for eni in system["NetworkInterfaceIds"]:
        if eni in ec2.enis:
            gone = ec2.enis[eni]
            ec2.delete_network_interface(eni)
            gone.subnet.del_subnet_ip(gone.private_ip_address)
    for link in links.of(world, response.region, file_system_id):
        world.file_links.pop((response.region, link["AssociationId"]))
    world.file_systems.pop((response.region, file_system_id))
    return {"FileSystemId": file_system_id, "Lifecycle": "DELETING"}


_ACTIONS: dict[str, Action] = {
    "create_file_system": _create,
    "describe_file_systems": _describe,
    "update_file_system": _update,
    "delete_file_system": _delete,
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
