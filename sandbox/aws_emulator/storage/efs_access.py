"""EFS access points and file system policies, and constraints of mount targets that moto does not check.

Source: EFS API Reference, CreateAccessPoint, RootDirectory, CreationInfo, PosixUser, PutFileSystemPolicy,
DeleteFileSystemPolicy and CreateMountTarget, 2026-11-26.
"""

import json
import re
from typing import Any

from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.server.errors import CloudError

_JSON = {"Content-Type": "application/json"}
_PATH = re.compile(r"/|(/(?!\.)[^$#<>;`|&?{}^*/\n]+){1,4}")
_PERMISSIONS = re.compile(r"[0-7]{3,4}")
_LONGEST_PATH, _LONGEST_POLICY, _MOST_GROUPS, _MOST_ACCESS_POINTS = 100, 20_000, 16, 10_000
_LARGEST_ID = 2**32 - 1


def check_access_point(response: Any) -> None:
    """Raise for a request of CreateAccessPoint that EFS refuses."""
    system, token = system_of(response), response._get_param("ClientToken")
    points = response.efs_backend.access_points.values()
    if any(point.client_token == token for point in points):
        raise CloudError("AccessPointAlreadyExists", f"An access point with client token {token} already exists.", 409)
    if sum(point.file_system_id == system.file_system_id for point in points) >= _MOST_ACCESS_POINTS:
        raise CloudError("AccessPointLimitExceeded", "The file system has the maximum number of access points.", 403)
    directory, user = response._get_param("RootDirectory") or {}, response._get_param("PosixUser")
    path, creation = directory.get("Path") or "/", directory.get("CreationInfo")
    if not _PATH.fullmatch(path) or len(path) > _LONGEST_PATH:
        raise CloudError("BadRequest", f"Path {path} is not valid: up to four folders, {_LONGEST_PATH} characters.")
    if creation is not None:
        _check_ids(creation, "CreationInfo", "OwnerUid", "OwnerGid")
        if not _PERMISSIONS.fullmatch(str(creation.get("Permissions", ""))):
            raise CloudError("BadRequest", "CreationInfo needs Permissions of three or four octal digits.")
    if user is not None:
        _check_ids(user, "PosixUser", "Uid", "Gid")
        if len(user.get("SecondaryGids") or ()) > _MOST_GROUPS:
            raise CloudError("BadRequest", f"PosixUser has more than {_MOST_GROUPS} secondary groups.")


def check_mount_target(response: Any) -> None:
    """Raise SecurityGroupNotFound for a group outside the subnet's VPC."""
    ec2 = response.efs_backend.ec2_backend
    subnet = ec2.get_subnet(response._get_param("SubnetId"))
    of_vpc = {group.id for group in ec2.describe_security_groups() if group.vpc_id == subnet.vpc_id}
    for group in response._get_param("SecurityGroups") or ():
        if group not in of_vpc:
            raise CloudError("SecurityGroupNotFound", f"Security group {group} is not in VPC {subnet.vpc_id}.")


def put_policy(response: Any) -> Any:
    """Answer PutFileSystemPolicy."""
    system, text = system_of(response), response._get_param("Policy") or ""
    _check_policy(text, response, bypass=bool(response._get_param("BypassPolicyLockoutSafetyCheck")))
    system.file_system_policy = text
    return 200, _JSON, json.dumps({"FileSystemId": system.file_system_id, "Policy": text})


def delete_policy(response: Any) -> Any:
    """Answer DeleteFileSystemPolicy: the default policy is in effect again."""
    system_of(response).file_system_policy = None
    return 200, _JSON, "{}"


def delete_access_point(response: Any) -> Any:
    """Answer DeleteAccessPoint."""
    access_point_id = response._get_param("AccessPointId")
    if response.efs_backend.access_points.pop(access_point_id, None) is None:
        raise CloudError("AccessPointNotFound", f"Access point {access_point_id} does not exist.", 404)
    return 204, {**_JSON, "status": 204}, ""


def system_of(response: Any) -> Any:
    """Return the file system of a request. Raises FileSystemNotFound."""
    file_system_id = response._get_param("FileSystemId")
    systems = response.efs_backend.file_systems_by_id
    if file_system_id not in systems:
        raise CloudError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.", 404)
    return systems[file_system_id]


def _check_ids(row: dict[str, Any], name: str, *keys: str) -> None:
    for key in keys:
        if not isinstance(row.get(key), int) or not 0 <= row[key] <= _LARGEST_ID:
            raise CloudError("BadRequest", f"{name} needs {key}, from 0 to {_LARGEST_ID}.")


def _check_policy(text: str, response: Any, *, bypass: bool) -> None:
    try:
        statements = json.loads(text)["Statement"]
        listed = statements if isinstance(statements, list) else [statements]
    except (ValueError, KeyError, TypeError):
        raise _invalid("the policy is not a JSON document with statements") from None
    if len(text) > _LONGEST_POLICY:
        raise _invalid(f"the policy has more than {_LONGEST_POLICY} characters")
    for statement in listed:
        actions = _as_list(statement.get("Action", statement.get("NotAction")))
        if statement.get("Effect") not in ("Allow", "Deny") or not actions:
            raise _invalid("a statement needs Effect and Action")
        if any(action != "*" and not action.lower().startswith("elasticfilesystem:") for action in actions):
            raise _invalid(f"{actions} are not actions of EFS")
        if "Principal" not in statement and "NotPrincipal" not in statement:
            raise _invalid("a statement of a resource policy needs a principal")
        for arn in _roles(statement.get("Principal")):
            if principals.role(response.region, arn) is None:
                raise _invalid("Policy contains invalid Principal block")
        if statement["Effect"] == "Deny" and not bypass and _locks_out(statement, actions):
            raise _invalid("the policy denies the caller later PutFileSystemPolicy requests")


def _locks_out(statement: dict[str, Any], actions: list[str]) -> bool:
    for_all = statement.get("Principal") in ("*", {"AWS": "*"}) and not statement.get("Condition")
    return for_all and bool({"*", "elasticfilesystem:*", "elasticfilesystem:PutFileSystemPolicy"} & set(actions))


def _roles(principal: Any) -> list[str]:
    named = _as_list(principal.get("AWS")) if isinstance(principal, dict) else []
    return [arn for arn in named if ":role/" in arn]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _invalid(reason: str) -> CloudError:
    return CloudError("InvalidPolicyException", f"Invalid policy: {reason}.")
