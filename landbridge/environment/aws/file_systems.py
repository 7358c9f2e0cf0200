"""Environment keys of FSx and EFS file systems."""

from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.existing_file_systems import ExistingShare
from landbridge.environment.base import AbsolutePath, Model, Word, Zone

S3Url = Annotated[str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/\S*)?$")]
# FSx writes a weekly time as day:hour:minute, Monday being 1.
WeeklyTime = Annotated[str, StringConstraints(pattern=r"^[1-7]:([01]\d|2[0-3]):[0-5]\d$")]
_ZONE = "zone of the file system; none: the first pool's first zone"
_BACKUPS = "retention of daily backups in days; 0: no backups; copies in the hub and on-prem are not backups"


class DataRepository(Model):
    """Data repository association: a folder that shows objects of a hub bucket (by data class) or of another bucket."""

    folder: AbsolutePath
    data_class: Word | None = None
    bucket: S3Url | None = None
    export: bool = Field(default=False, description="changes in the folder are exported to the bucket")


class FsxLustre(Model):
    """FSx for Lustre file system in the pools' zone, linked to the hub."""

    kind: Literal["fsx_lustre"]
    deployment: Literal["scratch_1", "scratch_2", "persistent_1", "persistent_2"] = Field(
        default="persistent_2", description="scratch types lose data when a server fails"
    )
    storage_type: Literal["ssd", "hdd", "intelligent_tiering"] = "ssd"
    capacity_gib: int | None = Field(
        default=4800,
        ge=1,
        description="1200 or a multiple of 2400; none: with intelligent tiering, which grows automatically",
    )
    throughput: int | None = Field(
        default=None,
        ge=1,
        description="MB/s per TiB, with intelligent tiering in total; none: 250 if the deployment type has a choice",
    )
    efa: bool = Field(default=False, description="clients with EFA use EFA instead of TCP; requires a minimum size")
    compression: Literal["none", "lz4"] = Field(
        default="lz4", description="data compression; faster except for data that is already compressed"
    )
    repositories: tuple[DataRepository, ...] = Field(
        default=(), description="folders that are linked to buckets (data repository associations)"
    )
    import_path: S3Url | None = Field(
        default=None, description="deprecated: the earlier form of a linked bucket; use repositories"
    )
    export_path: S3Url | None = Field(
        default=None, description="deprecated: the earlier form of export to a bucket; use repositories"
    )
    backup_days: int = Field(default=0, ge=0, description=_BACKUPS)
    maintenance: WeeklyTime | None = Field(
        default=None, description="weekly maintenance window, day:hour:minute in UTC, 1 is Monday; none: AWS chooses it"
    )
    mount: AbsolutePath = "/scratch"
    zone: Zone | None = Field(default=None, description=_ZONE)


class FsxOpenZfs(Model):
    """FSx for OpenZFS file system over NFS: small files, snapshots, home directories."""

    kind: Literal["fsx_openzfs"]
    deployment: Literal["single_az_1", "single_az_2", "single_az_ha_1", "single_az_ha_2", "multi_az_1"] = Field(
        default="single_az_ha_2",
        description="single_az_ha_2 survives a server failure; multi_az_1 costs twice as much and slows every write",
    )
    capacity_gib: int = Field(default=1024, ge=1)
    throughput: int | None = Field(
        default=None, ge=1, description="MB/s in total; none: the minimum of the deployment type"
    )
    iops: int | None = Field(default=None, ge=1, description="provisioned IOPS; none: 3 for each GiB")
    backup_days: int = Field(default=7, ge=0, description=_BACKUPS)
    maintenance: WeeklyTime | None = Field(
        default=None, description="weekly maintenance window, day:hour:minute in UTC, 1 is Monday; none: AWS chooses it"
    )
    root_hosts: tuple[IPv4Network, ...] = Field(
        default=(),
        description="addresses in the VPC whose root user is root on the file system, to create folders; root of all other clients "
        "is squashed; the first login host in AWS needs no entry",
    )
    mount: AbsolutePath = "/shared"
    zone: Zone | None = Field(default=None, description=_ZONE)


class Efs(Model):
    """EFS file system in every zone, billed by stored data; slow for many small files."""

    kind: Literal["efs"]
    throughput: Literal["elastic", "provisioned", "bursting"] = "elastic"
    provisioned_mibps: int | None = Field(default=None, ge=1, description="MiB/s, with throughput: provisioned")
    performance: Literal["general_purpose", "max_io"] = "general_purpose"
    zones: tuple[Zone, ...] = Field(
        default=(), description="zones of the mount targets; empty: every zone of the pools"
    )
    backups: bool = True
    tls: bool = Field(
        default=True,
        description="mounted with the EFS mount helper, over TLS, through an access point, with the role of the host; false: in clear text by "
        "every host with a route to it",
    )
    mount: AbsolutePath = "/shared"


CloudShare = Annotated[FsxLustre | FsxOpenZfs | Efs | ExistingShare, Field(discriminator="kind")]
