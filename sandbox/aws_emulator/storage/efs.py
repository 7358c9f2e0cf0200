"""EFS beyond moto: missing operations, and EFS's errors."""

import json
from collections.abc import Callable
from typing import Any

from moto.efs.responses import EFSResponse

from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, render

JSON = {"Content-Type": "application/json"}


def install(world: EmulatorState) -> None:
    """Answer EFS's operations for `world`."""
    theirs = getattr(EFSResponse, "_landbridge_create", EFSResponse.create_file_system)
    EFSResponse._landbridge_create = theirs  # type: ignore[attr-defined]

    def create(response: Any) -> Any:
        _modes(response, response._get_param("PerformanceMode") or "generalPurpose")
        return theirs(response)

    for name, action in {
        "create_file_system": create,
        "update_file_system": _update,
        "put_backup_policy": _put,
    }.items():
        setattr(EFSResponse, name, _guarded(world, action))


def _guarded(world: EmulatorState, action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            return action(response)
        except CloudError as error:
            world.errors[error.code] += 1
            _, headers, body = render(error, "elasticfilesystem", "")
            return error.status, {**headers, "status": error.status}, body.decode()

    return method


def _modes(response: Any, performance: str) -> None:
    """Refuse modes that exclude each other. Source: EFS API Reference, CreateFileSystem."""
    mode, amount = response._get_param("ThroughputMode"), response._get_param("ProvisionedThroughputInMibps")
    chosen = {"maxIO": "max_io", "generalPurpose": "general_purpose"}.get(performance)
    if any({mode, chosen} == {*pair} for pair in facts().efs.not_together):
        raise CloudError("BadRequest", f"Throughput mode {mode} is not supported with performance mode {performance}.")
    if (mode == "provisioned") != bool(amount):
        raise CloudError("BadRequest", "ProvisionedThroughputInMibps goes with throughput mode provisioned, and must.")


def _system(response: Any) -> Any:
    param = response._get_param("FileSystemId")
    known = response.efs_backend.file_systems_by_id
    if param not in known:
        raise CloudError("FileSystemNotFound", f"File system '{param}' does not exist.", 404)
    return known[param]


def _update(response: Any) -> Any:
    """UpdateFileSystem: the throughput."""
    system = _system(response)
    _modes(response, system.performance_mode)
    system.throughput_mode = response._get_param("ThroughputMode") or system.throughput_mode
    system.provisioned_throughput_in_mibps = response._get_param("ProvisionedThroughputInMibps")
    return 202, {**JSON, "status": 202}, json.dumps(system.info_json())


def _put(response: Any) -> Any:
    """PutBackupPolicy."""
    system, policy = _system(response), response._get_param("BackupPolicy")
    if policy["Status"] not in ("ENABLED", "DISABLED"):
        raise CloudError("ValidationException", f"Status {policy['Status']} is not valid.")
    system._backup = policy["Status"] == "ENABLED"
    return 200, JSON, json.dumps({"BackupPolicy": policy})
