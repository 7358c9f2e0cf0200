"""EFS file system with a mount target in each zone."""

import pulumi
import pulumi_aws as aws

from components.parts.file_systems.common import FileSystemContext, FileSystemResource
from landbridge.plan.args import named
from landbridge.plan.aws.file_system import NFS_OPTIONS, EfsSettings, FileSystemArgs


def efs(name: str, args: FileSystemArgs, settings: EfsSettings, context: FileSystemContext) -> FileSystemResource:
    """Create the file system, and a mount target in each of its zones."""
    system = aws.efs.FileSystem(
        name,
        creation_token=args.name,
        encrypted=True,
        kms_key_id=context.key_arn,
        performance_mode=settings.performance,
        throughput_mode=settings.throughput,
        provisioned_throughput_in_mibps=settings.provisioned_mibps,
        tags=named(args.tags, args.name),
        opts=context.data_options,
    )
    aws.efs.BackupPolicy(
        name,
        file_system_id=system.id,
        backup_policy={"status": "ENABLED" if args.backup_days else "DISABLED"},
        opts=context.child_options,
    )
    for zone in args.zones:
        aws.efs.MountTarget(
            f"{name}-{zone}",
            file_system_id=system.id,
            subnet_id=context.subnet_ids[zone],
            security_groups=[context.security_group_id],
            opts=context.child_options,
        )
    return FileSystemResource(
        id=system.id,
        dns_name=system.dns_name,
        mount_name=None,
        source=pulumi.Output.concat(system.dns_name, ":/"),
        type="nfs4",
        options=f"nfsvers=4.1,{NFS_OPTIONS}",
    )
