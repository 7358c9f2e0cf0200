"""Shared file systems in AWS, as FSx and EFS have them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Word, Zone

S3Url = Annotated[str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/\S*)?$")]
# FSx writes a weekly time as day:hour:minute, Monday being 1.
WeeklyTime = Annotated[str, StringConstraints(pattern=r"^[1-7]:([01]\d|2[0-3]):[0-5]\d$")]
_ZONE = "none: the first pool's first zone"
_BACKUPS = "0 keeps none; hub and on-prem copies are not backups"


class DataRepository(Model):
    """A folder of the file system that shows objects of a bucket: a hub bucket by its data class, or one of yours."""

    folder: AbsolutePath
    data_class: Word | None = None
    bucket: S3Url | None = None
    export: bool = Field(default=False, description="changes go back to the bucket")


class FsxLustre(Model):
    """Lustre in the pools' zone, linked to the hub."""

    kind: Literal["fsx_lustre"]
    deployment: Literal["scratch_1", "scratch_2", "persistent_1", "persistent_2"] = Field(
        default="persistent_2", description="scratch loses its data when a server fails"
    )
    storage_type: Literal["ssd", "hdd", "intelligent_tiering"] = "ssd"
    capacity_gib: int | None = Field(
        default=4800, ge=1, description="1200, or a multiple of 2400; none: intelligent tiering grows by itself"
    )
    throughput: int | None = Field(
        default=None,
        ge=1,
        description="MB/s per TiB, with intelligent tiering MB/s in all; none: 250 where the deployment has a choice",
    )
    efa: bool = Field(default=False, description="clients with EFA reach it without TCP, from a minimum size on")
    compression: Literal["none", "lz4"] = Field(default="lz4", description="faster for all but compressed data")
    repositories: tuple[DataRepository, ...] = Field(default=(), description="folders that show buckets")
    import_path: S3Url | None = Field(default=None, description="the older way to show a bucket; use repositories")
    export_path: S3Url | None = Field(default=None, description="the older way to write back; use repositories")
    backup_days: int = Field(default=0, ge=0, description=_BACKUPS)
    maintenance: WeeklyTime | None = Field(
        default=None, description="day:hour:minute, UTC, 1 is Monday; none: AWS chooses"
    )
    mount: AbsolutePath = "/scratch"
    zone: Zone | None = Field(default=None, description=_ZONE)


class FsxOpenZfs(Model):
    """ZFS over NFS: small files, snapshots, home directories."""

    kind: Literal["fsx_openzfs"]
    deployment: Literal["single_az_1", "single_az_2", "single_az_ha_1", "single_az_ha_2", "multi_az_1"] = Field(
        default="single_az_ha_2", description="survives a server; a second zone costs twice and slows every write"
    )
    capacity_gib: int = Field(default=1024, ge=1)
    throughput: int | None = Field(
        default=None, ge=1, description="MB/s in all; none: the least that the deployment has"
    )
    iops: int | None = Field(default=None, ge=1, description="none: 3 for each GiB")
    backup_days: int = Field(default=7, ge=0, description=_BACKUPS)
    maintenance: WeeklyTime | None = Field(
        default=None, description="day:hour:minute, UTC, 1 is Monday; none: AWS chooses"
    )
    mount: AbsolutePath = "/shared"
    zone: Zone | None = Field(default=None, description=_ZONE)


class Efs(Model):
    """NFS in every zone, paid by what it holds; slow for many small files."""

    kind: Literal["efs"]
    throughput: Literal["elastic", "provisioned", "bursting"] = "elastic"
    provisioned_mibps: int | None = Field(default=None, ge=1, description="with throughput: provisioned")
    performance: Literal["general_purpose", "max_io"] = "general_purpose"
    zones: tuple[Zone, ...] = Field(default=(), description="mount targets; none named: every zone of the pools")
    backups: bool = True
    mount: AbsolutePath = "/shared"


CloudShare = Annotated[FsxLustre | FsxOpenZfs | Efs, Field(discriminator="kind")]
