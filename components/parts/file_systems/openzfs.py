"""FSx for OpenZFS file system."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.file_systems.common import FileSystemContext, Made
from landbridge.plan.args import named
from landbridge.plan.aws.file_system import NFS_OPTIONS, FileSystemArgs, OpenZfsSettings

#: Where FSx exports the root volume; clients mount it or any volume below it.
ROOT = "/fsx"


def openzfs(name: str, args: FileSystemArgs, settings: OpenZfsSettings, site: FileSystemContext) -> Made:
    """Make the file system in its first zone (with a second: its standby there), exported to the planned ranges."""
    iops = {"mode": "AUTOMATIC"} if settings.iops is None else {"mode": "USER_PROVISIONED", "iops": settings.iops}
    # The root directory belongs to root: with root squash, no user could create a directory.
    rights = ["rw", "crossmnt", "no_root_squash"]
    subnets = [site.subnet_ids[zone] for zone in args.zones]
    standby: dict[str, Any] = (
        {} if len(subnets) == 1 else {"preferred_subnet_id": subnets[0], "route_table_ids": list(site.route_table_ids)}
    )
    system = aws.fsx.OpenZfsFileSystem(
        name,
        subnet_ids=subnets,
        security_group_ids=[site.security_group_id],
        deployment_type=settings.deployment,
        storage_type="SSD",
        storage_capacity=settings.capacity_gib,
        throughput_capacity=settings.throughput,
        disk_iops_configuration=iops,
        root_volume_configuration={
            "data_compression_type": "LZ4",
            "nfs_exports": {
                "client_configurations": [{"clients": cidr, "options": rights} for cidr in settings.clients]
            },
        },
        kms_key_id=site.key_arn,
        automatic_backup_retention_days=args.backup_days,
        copy_tags_to_backups=True,
        copy_tags_to_volumes=True,
        weekly_maintenance_start_time=args.maintenance,
        skip_final_backup=not args.final_backup,
        # FSx refuses to delete a file system with snapshots or volumes without this option.
        delete_options=None if args.protect else ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
        tags=named(args.tags, args.name),
        opts=site.kept,
        **standby,
    )
    source = pulumi.Output.concat(system.dns_name, ":", ROOT)
    options = f"nfsvers=4.2,{NFS_OPTIONS}"
    return Made(id=system.id, dns_name=system.dns_name, mount_name=None, source=source, type="nfs4", options=options)
