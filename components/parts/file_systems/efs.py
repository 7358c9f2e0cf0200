"""EFS file system with a mount target in each zone, and its access point and policy."""

import pulumi
import pulumi_aws as aws

from components.parts.file_systems.common import FileSystemContext, FileSystemResource
from landbridge.plan.args import named
from landbridge.plan.aws.storage.efs_access import EfsAccess, file_system_policy, mount_options
from landbridge.plan.aws.storage.file_system import NFS_OPTIONS, EfsSettings, FileSystemArgs


def efs(name: str, args: FileSystemArgs, settings: EfsSettings, context: FileSystemContext) -> FileSystemResource:
    """Create the file system, its access point and policy, then a mount target in each of its zones."""
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
    access_point, policies = _access(name, args, settings.access, system, context) if settings.access else (None, [])
    # Without the policy the file system accepts every client that reaches a mount target.
    options = pulumi.ResourceOptions.merge(context.child_options, pulumi.ResourceOptions(depends_on=policies))
    for zone in args.zones:
        aws.efs.MountTarget(
            f"{name}-{zone}",
            file_system_id=system.id,
            subnet_id=context.subnet_ids[zone],
            security_groups=[context.security_group_id],
            opts=options,
        )
    if access_point is None:
        return FileSystemResource(
            id=system.id,
            dns_name=system.dns_name,
            mount_name=None,
            source=pulumi.Output.concat(system.dns_name, ":/"),
            type="nfs4",
            options=f"nfsvers=4.1,{NFS_OPTIONS}",
        )
    return FileSystemResource(
        id=system.id,
        dns_name=system.dns_name,
        mount_name=None,
        source=pulumi.Output.concat(system.id, ":/"),
        type="efs",
        options=access_point.id.apply(mount_options),
    )


def _access(
    name: str, args: FileSystemArgs, access: EfsAccess, system: aws.efs.FileSystem, context: FileSystemContext
) -> tuple[aws.efs.AccessPoint, list[pulumi.Resource]]:
    """Create the access point and the file system policy."""
    # EFS creates a folder only if it gets the owner and the mode.
    creation = (
        {} if access.mode is None else {"creation_info": {"owner_uid": 0, "owner_gid": 0, "permissions": access.mode}}
    )
    access_point = aws.efs.AccessPoint(
        name,
        file_system_id=system.id,
        root_directory={"path": access.path, **creation},
        tags=named(args.tags, args.name),
        opts=context.child_options,
    )
    known = pulumi.Output.all(
        system.arn, access_point.arn, pulumi.Output.all(*context.client_roles), pulumi.Output.all(*context.root_roles)
    )
    policy = aws.efs.FileSystemPolicy(
        name,
        file_system_id=system.id,
        policy=known.apply(lambda facts: file_system_policy(*facts)),
        opts=context.child_options,
    )
    return access_point, [policy]
