"""RDS errors that moto does not have, and the private addresses of a DB instance.

Source: RDS API Reference, errors of CreateDBInstance, ModifyDBInstance, DeleteDBInstance, subnet groups and parameter
groups; RDS User Guide, "Working with a DB instance in a VPC".
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from math import inf
from typing import Any

from moto.backends import get_backend
from moto.rds.exceptions import RDSClientError
from moto.rds.models import RDSBackend

from landbridge.catalog.aws.databases import databases
from landbridge.catalog.aws.impact import impact_facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.moto_hooks import before

Arguments = dict[str, Any]


def install(emulator: EmulatorState) -> None:
    """Install checks of the calls that create, change or delete. Global to the process, as moto's state is."""
    judges: Mapping[str, Callable[[Any, Arguments], None]] = {
        "create_db_instance": _create,
        "modify_db_instance": partial(_modify, emulator),
        "delete_db_instance": _delete,
        "create_subnet_group": _create_subnet_group,
        "delete_subnet_group": _delete_subnet_group,
        "delete_db_parameter_group": _delete_parameter_group,
    }
    for name, judge in judges.items():
        before(RDSBackend, name, judge)


def _ec2(backend: Any) -> Any:
    return get_backend("ec2")[backend.account_id][backend.region_name]


def _create(backend: Any, arguments: Arguments) -> None:
    request, facts = arguments["db_kwargs"], databases()
    if request.get("engine") != facts.engine:
        return  # other engines are checked by moto
    if request["db_instance_identifier"] in backend.databases:
        return  # moto raises the error
    version, kind = str(request.get("engine_version", "")), request.get("storage_type")
    if ".".join(version.split(".")[:2]) not in facts.versions:
        raise RDSClientError("InvalidParameterCombination", f"Cannot find version {version} for {facts.engine}")
    if bool(request.get("master_user_password")) == bool(request.get("manage_master_user_password")):
        message = "You must specify MasterUserPassword or ManageMasterUserPassword, and not both."
        raise RDSClientError("InvalidParameterCombination", message)
    size, (least, most) = int(request.get("allocated_storage") or 0), facts.storage_gib
    if kind == "gp3" and not least <= size <= most:
        message = f"Invalid storage size for engine name {facts.engine} and storage type {kind}: {size}"
        raise RDSClientError("InvalidParameterCombination", message)
    _check_backup_days(request)
    _check_family(backend, request.get("db_parameter_group_name"), version)
    _check_key(backend, request)
    _take_addresses(backend, request)


def _check_backup_days(request: Mapping[str, Any]) -> None:
    least, most = databases().backup_days
    days = request.get("backup_retention_period")
    if days is not None and not least <= int(days) <= most:
        raise RDSClientError(
            "InvalidParameterValue", f"Invalid backup retention period: {days}. Must be {least}-{most}."
        )


def _check_family(backend: Any, name: str | None, version: str) -> None:
    group = backend.db_parameter_groups.get(name or "")
    family = databases().family(version)
    if name and group is None and not name.startswith("default."):
        raise RDSClientError("DBParameterGroupNotFound", f"DBParameterGroup not found: {name}")
    if group is not None and group.family != family:
        message = (
            f"The Parameter Group {name} with DBParameterGroupFamily {group.family} cannot be used for this instance. "
            f"Please use a Parameter Group with DBParameterGroupFamily {family}"
        )
        raise RDSClientError("InvalidParameterCombination", message)


def _check_key(backend: Any, request: Mapping[str, Any]) -> None:
    kms = get_backend("kms")[backend.account_id][backend.region_name]
    for name in ("kms_key_id", "master_user_secret_kms_key_id"):
        key = request.get(name)
        if key and str(key).rpartition("/")[2] not in kms.keys:
            raise RDSClientError("KMSKeyNotAccessibleFault", f"The specified KMS key [{key}] does not exist.")


def _take_addresses(backend: Any, request: Mapping[str, Any]) -> None:
    """Take an address in each zone of the database; raise if a security group is in another VPC."""
    name, ec2 = request.get("db_subnet_group_name"), _ec2(backend)
    if name is None:
        return
    (group,) = backend.describe_db_subnet_groups(name)
    for group_id in request.get("vpc_security_group_ids") or []:
        security_group = ec2.get_security_group_from_id(group_id)
        if security_group is None or security_group.vpc_id != group.vpc_id:
            message = f"The DB instance and EC2 security group {group_id} are in different VPCs."
            raise RDSClientError("InvalidParameterCombination", message)
    zone = request.get("availability_zone")
    by_zone = {subnet.availability_zone: subnet for subnet in reversed(group._subnets)}
    if zone is not None and zone not in by_zone:
        raise RDSClientError("InvalidVPCNetworkStateFault", f"The DB subnet group has no subnet in {zone}.")
    first = by_zone[zone] if zone else group._subnets[0]
    standby = (
        [subnet for subnet in by_zone.values() if subnet is not first][:1] if _is_true(request.get("multi_az")) else []
    )
    for subnet in (first, *standby):
        ec2.create_network_interface(
            subnet,
            [subnet.get_available_subnet_ip(None)],
            group_ids=list(request.get("vpc_security_group_ids") or []),
            description=_description(str(request["db_instance_identifier"])),
        )


def _description(database: str) -> str:
    return f"RDSNetworkInterface {database}"


def _is_true(value: Any) -> bool:
    return str(value).lower() == "true"


def _modify(emulator: EmulatorState, backend: Any, arguments: Arguments) -> None:
    request, facts = arguments["db_kwargs"], databases()
    database = backend.databases.get(arguments["db_instance_identifier"])
    if database is None or database.engine != facts.engine:
        return
    _check_backup_days(request)
    size, last = request.get("allocated_storage"), emulator.grown.get(database.db_instance_arn)
    if size is not None and int(size) != int(database.allocated_storage):
        rule = impact_facts().types["aws:rds/instance:Instance"].properties["allocatedStorage"]
        hours_since = inf if last is None else (emulator.now() - last) / timedelta(hours=1)
        refusal = rule.refusal(int(database.allocated_storage), int(size), hours_since)
        if refusal is not None:
            raise RDSClientError("InvalidParameterCombination", f"{refusal[0].says}.")
        emulator.grown[database.db_instance_arn] = emulator.now()
    version = request.get("engine_version")
    if version is not None and facts.family(version) != facts.family(database.engine_version):
        if not _is_true(request.get("allow_major_version_upgrade")):
            message = "The AllowMajorVersionUpgrade flag must be present when upgrading to a new major version."
            raise RDSClientError("InvalidParameterCombination", message)
        _check_family(backend, request.get("db_parameter_group_name") or database.db_parameter_group_name, version)


def _delete(backend: Any, arguments: Arguments) -> None:
    name = arguments["db_instance_identifier"]
    database = backend.databases.get(name)
    if database is None or database.deletion_protection:
        return  # moto raises the error
    final, skipped = arguments.get("final_db_snapshot_identifier"), _is_true(arguments.get("skip_final_snapshot"))
    if not final and not skipped:
        message = "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified."
        raise RDSClientError("InvalidParameterCombination", message)
    if final and final in backend.database_snapshots:
        message = f"Cannot create the snapshot because a snapshot with the identifier {final} already exists."
        raise RDSClientError("DBSnapshotAlreadyExists", message)
    ec2 = _ec2(backend)
    for eni in [eni for eni in ec2.enis.values() if eni.description == _description(name)]:
        eni.subnet.del_subnet_ip(eni.private_ip_address)
        ec2.delete_network_interface(eni.id)


def _create_subnet_group(backend: Any, arguments: Arguments) -> None:
    if arguments["subnet_name"] in backend.subnet_groups:
        message = f"The DB subnet group {arguments['subnet_name']} already exists."
        raise RDSClientError("DBSubnetGroupAlreadyExists", message)
    if len({subnet.availability_zone for subnet in arguments["subnets"]}) < databases().zones:
        message = (
            "The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. "
            f"Add subnets to cover at least {databases().zones} AZs."
        )
        raise RDSClientError("DBSubnetGroupDoesNotCoverEnoughAZs", message)


def _delete_subnet_group(backend: Any, arguments: Arguments) -> None:
    name = arguments["subnet_name"]
    for database in backend.databases.values():
        if database._db_subnet_group_name == name:
            message = (
                f"Cannot delete the subnet group '{name}' because at least one database instance: "
                f"{database.db_instance_identifier} is still using it."
            )
            raise RDSClientError("InvalidDBSubnetGroupStateFault", message)


def _delete_parameter_group(backend: Any, arguments: Arguments) -> None:
    name = arguments["db_parameter_group_name"]
    if any(database.db_parameter_group_name == name for database in backend.databases.values()):
        message = "One or more database instances are still members of this parameter group, so it cannot be deleted."
        raise RDSClientError("InvalidDBParameterGroupState", message)
