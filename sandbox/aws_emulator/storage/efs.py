"""EFS operations that moto does not have, and EFS's errors."""

import json
from collections.abc import Callable
from typing import Any

from moto.efs.responses import EFSResponse

from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, render
from sandbox.aws_emulator.storage import efs_access as access

JSON = {"Content-Type": "application/json"}


def install(emulator: EmulatorState) -> None:
    """Install EFS's operations in moto, for `emulator`."""
    moto_create = getattr(EFSResponse, "_landbridge_create", EFSResponse.create_file_system)
    EFSResponse._landbridge_create = moto_create

    def create(response: Any) -> Any:
        _check_modes(response, response._get_param("PerformanceMode") or "generalPurpose")
        return moto_create(response)

    for name, action in {
        "create_file_system": create,
        "update_file_system": _update,
        "put_backup_policy": _put,
        "create_access_point": _checked("create_access_point", access.check_access_point),
        "delete_access_point": access.delete_access_point,
        "create_mount_target": _checked("create_mount_target", access.check_mount_target),
        "put_file_system_policy": access.put_policy,
        "delete_file_system_policy": access.delete_policy,
    }.items():
        setattr(EFSResponse, name, _guarded(emulator, action))


def _checked(name: str, check: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Return moto's operation with a check before it."""
    original = getattr(EFSResponse, f"_landbridge_{name}", getattr(EFSResponse, name))
    setattr(EFSResponse, f"_landbridge_{name}", original)

    def action(response: Any) -> Any:
        check(response)
        return original(response)

    return action


def _guarded(emulator: EmulatorState, action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            return action(response)
        except CloudError as error:
            emulator.errors[error.code] += 1
            _, headers, body = render(error, "elasticfilesystem", "")
            return error.status, {**headers, "status": error.status}, body.decode()

    return method


def _check_modes(response: Any, performance: str) -> None:
    """Raise BadRequest for modes that exclude each other. Source: EFS API Reference, CreateFileSystem."""
    throughput, mibps = response._get_param("ThroughputMode"), response._get_param("ProvisionedThroughputInMibps")
    performance_mode = {"maxIO": "max_io", "generalPurpose": "general_purpose"}.get(performance)
    if any({throughput, performance_mode} == {*pair} for pair in facts().efs.not_together):
        raise CloudError(
            "BadRequest", f"Throughput mode {throughput} is not supported with performance mode {performance}."
        )
    if (throughput == "provisioned") != bool(mibps):
        raise CloudError(
            "BadRequest",
            "ProvisionedThroughputInMibps is required for throughput mode provisioned, and only allowed there.",
        )


def _update(response: Any) -> Any:
    """Answer UpdateFileSystem: change the throughput."""
    system = access.system_of(response)
    _check_modes(response, system.performance_mode)
    system.throughput_mode = response._get_param("ThroughputMode") or system.throughput_mode
    system.provisioned_throughput_in_mibps = response._get_param("ProvisionedThroughputInMibps")
    return 202, {**JSON, "status": 202}, json.dumps(system.info_json())


def _put(response: Any) -> Any:
    """Answer PutBackupPolicy."""
    system, policy = access.system_of(response), response._get_param("BackupPolicy")
    if policy["Status"] not in ("ENABLED", "DISABLED"):
        raise CloudError("ValidationException", f"Status {policy['Status']} is not valid.")
    system._backup = policy["Status"] == "ENABLED"
    return 200, JSON, json.dumps({"BackupPolicy": policy})
