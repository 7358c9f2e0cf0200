"""FSx backups; they stay when the file system is deleted."""

import copy
import uuid
from typing import Any

from moto.core.utils import unix_time

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.storage.fsx_associations import file_system, of
from sandbox.aws_emulator.storage.fsx_limits import bad, can_be_backed_up


def back_up(
    emulator: EmulatorState, response: Any, system: dict[str, Any], tags: list[dict[str, str]]
) -> dict[str, Any]:
    """Create a backup of a file system and return it. Raise BadRequest if the file system cannot have backups."""
    if not can_be_backed_up(system, bool(of(emulator, response.region, system["FileSystemId"]))):
        raise bad(f"A backup of {system['FileSystemId']} is not supported.")
    backup_id = f"backup-{uuid.uuid4().hex[:17]}"
    backup = {
        "BackupId": backup_id,
        "Lifecycle": "AVAILABLE",
        "Type": "USER_INITIATED",
        "CreationTime": unix_time(),
        "ResourceARN": f"arn:aws:fsx:{response.region}:{response.current_account}:backup/{backup_id}",
        "Tags": tags,
        "FileSystem": copy.deepcopy(system),
    }
    emulator.file_backups[(response.region, backup_id)] = backup
    return backup


def create(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer CreateBackup."""
    system = file_system(emulator, response.region, request["FileSystemId"])
    return {"Backup": {**back_up(emulator, response, system, request.get("Tags", [])), "Lifecycle": "CREATING"}}


def describe(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeBackups, by id or by file system."""
    for backup_id in request.get("BackupIds", []):
        _backup(emulator, response, backup_id)
    file_systems = {row["Name"]: row["Values"] for row in request.get("Filters", [])}.get("file-system-id")
    backup_ids = request.get("BackupIds")
    return {
        "Backups": [
            backup
            for (region, backup_id), backup in emulator.file_backups.items()
            if region == response.region
            and (not backup_ids or backup_id in backup_ids)
            and (file_systems is None or backup["FileSystem"]["FileSystemId"] in file_systems)
        ]
    }


def delete(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer DeleteBackup."""
    backup_id = request["BackupId"]
    _backup(emulator, response, backup_id)
    emulator.file_backups.pop((response.region, backup_id))
    return {"BackupId": backup_id, "Lifecycle": "DELETED"}


def _backup(emulator: EmulatorState, response: Any, backup_id: str) -> dict[str, Any]:
    backup = emulator.file_backups.get((response.region, backup_id))
    if backup is None:
        raise CloudError("BackupNotFound", f"Backup '{backup_id}' does not exist.")
    return backup
