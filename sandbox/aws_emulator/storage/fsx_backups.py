"""Backups of FSx file systems; they stay when the file system is deleted."""

import copy
import uuid
from typing import Any

from moto.core.utils import unix_time

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.storage.fsx_associations import file_system, of
from sandbox.aws_emulator.storage.fsx_limits import bad, can_be_backed_up


def keep(world: EmulatorState, response: Any, system: dict[str, Any], tags: list[dict[str, str]]) -> dict[str, Any]:
    """Back a file system up. Raises FSx's error for one that can have no backup."""
    if not can_be_backed_up(system, bool(of(world, response.region, system["FileSystemId"]))):
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
    world.file_backups[(response.region, backup_id)] = backup
    return backup


def create(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """CreateBackup."""
    system = file_system(world, response.region, request["FileSystemId"])
    return {"Backup": {**keep(world, response, system, request.get("Tags", [])), "Lifecycle": "CREATING"}}


def describe(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """DescribeBackups, by id or by file system."""
    for one in request.get("BackupIds", []):
        _backup(world, response, one)
    named = {own["Name"]: own["Values"] for own in request.get("Filters", [])}.get("file-system-id")
    backup_ids = request.get("BackupIds")
    return {
        "Backups": [
            backup
            for (region, one), backup in world.file_backups.items()
            if region == response.region
            and (not backup_ids or one in backup_ids)
            and (named is None or backup["FileSystem"]["FileSystemId"] in named)
        ]
    }


def delete(world: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """DeleteBackup."""
    backup_id = request["BackupId"]
    _backup(world, response, backup_id)
    world.file_backups.pop((response.region, backup_id))
    return {"BackupId": backup_id, "Lifecycle": "DELETED"}


def _backup(world: EmulatorState, response: Any, one: str) -> dict[str, Any]:
    backup = world.file_backups.get((response.region, one))
    if backup is None:
        raise CloudError("BackupNotFound", f"Backup '{one}' does not exist.")
    return backup
