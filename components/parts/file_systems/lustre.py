"""FSx for Lustre file system and its data repository associations."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.file_systems.common import FileSystemContext, FileSystemResource
from landbridge.plan.args import named
from landbridge.plan.aws.storage.file_system import LUSTRE_OPTIONS, FileSystemArgs, LustreSettings, RepositoryPlan

#: Import and export new, changed and deleted files, so that folder and bucket have the same content.
EVENTS = ["NEW", "CHANGED", "DELETED"]


def lustre(
    name: str,
    args: FileSystemArgs,
    settings: LustreSettings,
    context: FileSystemContext,
    buckets: Mapping[str, pulumi.Input[str]],
) -> FileSystemResource:
    """Create the file system in its first zone; `buckets` are the hub's, by data class."""
    system = aws.fsx.LustreFileSystem(
        name,
        subnet_ids=context.subnet_ids[args.zones[0]],
        security_group_ids=[context.security_group_id],
        deployment_type=settings.deployment,
        storage_type=settings.storage_type,
        storage_capacity=settings.capacity_gib,
        per_unit_storage_throughput=settings.throughput_per_tib,
        throughput_capacity=settings.throughput,
        file_system_type_version=settings.version,
        data_compression_type=settings.compression,
        drive_cache_type=settings.drive_cache,
        efa_enabled=True if settings.efa else None,
        kms_key_id=context.key_arn,
        import_path=settings.import_path,
        export_path=settings.export_path,
        weekly_maintenance_start_time=args.maintenance,
        skip_final_backup=not args.final_backup,
        tags=named(args.tags, args.name),
        opts=context.data_options,
        **_metadata(settings),
        **_backups(args),
    )
    for plan in settings.repositories:
        _repository(f"{name}-{plan.key}", args, plan, system, context, buckets)
    return FileSystemResource(
        id=system.id,
        dns_name=system.dns_name,
        mount_name=system.mount_name,
        source=pulumi.Output.concat(system.dns_name, "@tcp:/", system.mount_name),
        type="lustre",
        options=LUSTRE_OPTIONS,
    )


def _metadata(settings: LustreSettings) -> dict[str, Any]:
    if settings.metadata_iops is not None:
        metadata = {"mode": "USER_PROVISIONED", "iops": settings.metadata_iops}
        cache = {"sizing_mode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"}
        return {"metadata_configuration": metadata, "data_read_cache_configuration": cache}
    return {"metadata_configuration": {"mode": "AUTOMATIC"}} if settings.automatic_metadata else {}


def _backups(args: FileSystemArgs) -> dict[str, Any]:
    if args.backup_days is None:
        return {}
    return {"automatic_backup_retention_days": args.backup_days, "copy_tags_to_backups": True}


def _repository(
    name: str,
    args: FileSystemArgs,
    plan: RepositoryPlan,
    system: aws.fsx.LustreFileSystem,
    context: FileSystemContext,
    buckets: Mapping[str, pulumi.Input[str]],
) -> None:
    bucket_url = plan.url if plan.data_class is None else pulumi.Output.concat("s3://", buckets[plan.data_class])
    policy: dict[str, Any] = {"auto_import_policy": {"events": EVENTS}}
    if plan.export:
        policy["auto_export_policy"] = {"events": EVENTS}
    aws.fsx.DataRepositoryAssociation(
        name,
        file_system_id=system.id,
        file_system_path=plan.folder,
        data_repository_path=bucket_url,
        batch_import_meta_data_on_create=True,
        # Deletion of the association deletes the folder; the objects stay in the bucket.
        delete_data_in_filesystem=False,
        s3=policy,
        tags=named(args.tags, f"{args.name}-{plan.key}"),
        opts=context.child_options,
    )
