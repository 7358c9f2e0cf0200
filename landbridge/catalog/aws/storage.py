"""Shared file systems of AWS and the options that they accept together (storage.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from landbridge.catalog.files import Facts, read

Lustre = Literal["scratch_1", "scratch_2", "persistent_1", "persistent_2"]
Range = tuple[int, int]


class Ports(Facts):
    """Ports that servers and clients must reach of each other."""

    protocol: Literal["tcp", "udp"]
    first: int
    last: int


class LustreRow(Facts):
    """FSx for Lustre deployment and disk type: its sizes in GiB and its throughputs in MB/s per TiB.

    `baseline` is the throughput of a deployment that leaves no choice; `server_gib` the storage behind one server.
    """

    deployment: Lustre
    storage: Literal["ssd", "hdd"]
    sizes: tuple[int, ...]
    step: int
    throughput: tuple[int, ...]
    baseline: int | None = None
    server_gib: int

    def has_size(self, gib: int) -> bool:
        """Return true when a file system of `gib` is sold."""
        return gib in self.sizes or (gib > self.sizes[-1] and gib % self.step == 0)

    def next_size(self, gib: int) -> int:
        """The smallest size there is that is not below `gib`."""
        return next((size for size in self.sizes if size >= gib), -(-gib // self.step) * self.step)


class IntelligentTiering(Facts):
    """Lustre without a size: throughput in MB/s of the whole file system, in steps; `cache_gib` for each step."""

    deployment: Lustre
    throughput_step: int
    throughput_max: int
    metadata_iops: tuple[int, ...]
    cache_gib: Range


class LustreEfa(Facts):
    """Lustre over EFA: capacity is a multiple of the step of its throughput. Chosen at creation, never later."""

    source: str
    deployment: Lustre
    step_gib: Mapping[int, int]
    needs_metadata_configuration: bool
    #: Families of instances that have EFA and cannot use it for Lustre.
    unsupported_families: tuple[str, ...]
    #: Operating systems whose clients can.
    operating_systems: tuple[str, ...]


class Repositories(Facts):
    """Links of folders to S3."""

    most: int
    not_on: tuple[Lustre, ...]
    #: Where the older way (import_path, export_path) does not exist.
    older_way_not_on: tuple[Lustre, ...]
    versions: tuple[str, ...]
    excludes: tuple[str, ...]


class Backups(Facts):
    """Automatic backups: kept for so many days (0 keeps none), and where there are none."""

    days: Range
    not_on: tuple[str, ...] = ()
    not_with_repositories: bool = False


class DriveCache(Facts):
    """The only choice of disks that has, and needs, a drive cache."""

    deployment: Lustre
    storage: str


class FsxLustreFacts(Facts):
    """FSx for Lustre."""

    ports: tuple[Ports, ...]
    zones: int
    deployments: tuple[LustreRow, ...]
    intelligent_tiering: IntelligentTiering
    efa: LustreEfa
    metadata_iops: tuple[int, ...]
    metadata_iops_step: int
    metadata_iops_max: int
    repositories: Repositories
    backups: Backups
    own_key_not_on: tuple[Lustre, ...]
    compression: tuple[str, ...]
    drive_cache: DriveCache
    versions: Mapping[str, tuple[Lustre, ...]]

    def rows(self, deployment: str, storage: str) -> tuple[LustreRow, ...]:
        """The rows of a deployment with these disks; none where AWS does not have the two together."""
        return tuple(row for row in self.deployments if (row.deployment, row.storage) == (deployment, storage))


class OpenZfsRow(Facts):
    """FSx for OpenZFS deployment: throughputs in MB/s, number of zones, standby server or none."""

    throughput: tuple[int, ...]
    zones: int
    standby: bool
    intelligent_tiering: bool = False


class FsxOpenZfsFacts(Facts):
    """FSx for OpenZFS. `iops_per_gib` are included."""

    ports: tuple[Ports, ...]
    capacity_gib: Range
    iops_per_gib: int
    deployments: Mapping[str, OpenZfsRow]
    backups: Backups
    compression: tuple[str, ...]
    record_kib: Range


class EfsFacts(Facts):
    """EFS. `not_together`: modes that exclude one another."""

    ports: tuple[Ports, ...]
    performance: tuple[str, ...]
    throughput: tuple[str, ...]
    not_together: tuple[tuple[str, str], ...]
    provisioned_least_mibps: int
    mount_targets_per_zone: int


class OntapFacts(Facts):
    """FSx for ONTAP, as far as it is only mounted."""

    ports: tuple[Ports, ...]


def _absolute(folders: tuple[str, ...]) -> tuple[str, ...]:
    if any(not folder.startswith("/") for folder in folders):
        raise ValueError("folders are absolute")
    return folders


class ReservedMounts(Facts):
    """Folders over which nothing may be mounted: `folders` themselves, `tree` with all that is below."""

    folders: Annotated[tuple[str, ...], AfterValidator(_absolute)]
    tree: Annotated[tuple[str, ...], AfterValidator(_absolute)]

    def reserves(self, path: str) -> bool:
        """Return true when `path` may not be a mount point."""
        plain = "/" + path.strip("/")
        return plain in self.folders or any(plain == top or plain.startswith(f"{top}/") for top in self.tree)


class StorageFacts(Facts):
    """Every kind of shared file system."""

    source: str
    as_of: date = Field(alias="date")
    fsx_lustre: FsxLustreFacts
    fsx_openzfs: FsxOpenZfsFacts
    efs: EfsFacts
    fsx_ontap: OntapFacts
    reserved_mounts: ReservedMounts


@cache
def storage() -> StorageFacts:
    """Return the facts of AWS's shared file systems."""
    return read("storage", StorageFacts)
