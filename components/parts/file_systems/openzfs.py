"""FSx for OpenZFS file system."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.file_systems.common import FileSystemContext, FileSystemResource
from landbridge.plan.args import named
from landbridge.plan.aws.storage.file_system import NFS_OPTIONS, FileSystemArgs, OpenZfsSettings

#: Export path of the root volume; clients mount it or any volume below it.
ROOT = "/fsx"


def openzfs(
    name: str, args: FileSystemArgs, settings: OpenZfsSettings, context: FileSystemContext
) -> FileSystemResource:
    """Create the file system in its first zone, with a standby in a second zone if planned; export it to the planned
    ranges.
    """
    iops = {"mode": "AUTOMATIC"} if settings.iops is None else {"mode": "USER_PROVISIONED", "iops": settings.iops}
    # The root directory belongs to root: only `root_clients` create directories in it. Root of a node, which a job may become through
    # a defect, must not read and change all users' files.
    exports = [
        *({"clients": client, "options": ["rw", "crossmnt", "no_root_squash"]} for client in settings.root_clients),
        *({"clients": cidr, "options": ["rw", "crossmnt", "root_squash"]} for cidr in settings.clients),
    ]
    subnets = [context.subnet_ids[zone] for zone in args.zones]
    standby: dict[str, Any] = (
        {}
        if len(subnets) == 1
        else {"preferred_subnet_id": subnets[0], "route_table_ids": list(context.route_table_ids)}
    )
    system = aws.fsx.OpenZfsFileSystem(
        name,
        subnet_ids=subnets,
        security_group_ids=[context.security_group_id],
        deployment_type=settings.deployment,
        storage_type="SSD",
        storage_capacity=settings.capacity_gib,
        throughput_capacity=settings.throughput,
        disk_iops_configuration=iops,
        root_volume_configuration={
            "data_compression_type": "LZ4",
            "nfs_exports": {"client_configurations": exports},
        },
        kms_key_id=context.key_arn,
        automatic_backup_retention_days=args.backup_days,
        copy_tags_to_backups=True,
        copy_tags_to_volumes=True,
        weekly_maintenance_start_time=args.maintenance,
        skip_final_backup=not args.final_backup,
        # FSx refuses to delete a file system with snapshots or volumes without this option.
        delete_options=None if args.protect else ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
        tags=named(args.tags, args.name),
        opts=context.data_options,
        **standby,
    )
    source = pulumi.Output.concat(system.dns_name, ":", ROOT)
    options = f"nfsvers=4.2,{NFS_OPTIONS}"
    return FileSystemResource(
        id=system.id, dns_name=system.dns_name, mount_name=None, source=source, type="nfs4", options=options
    )
