"""Shared file systems of AWS and their valid combinations of options (storage.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from landbridge.catalog.files import Facts, read

Lustre = Literal["scratch_1", "scratch_2", "persistent_1", "persistent_2"]
Range = tuple[int, int]


class Ports(Facts):
    """Ports on which servers and clients must reach one another."""

    protocol: Literal["tcp", "udp"]
    first: int
    last: int


class LustreRow(Facts):
    """FSx for Lustre deployment and disk type: its sizes in GiB and its throughputs in MB/s per TiB.

    `baseline` is the throughput of a deployment without a choice; `server_gib` is the storage of one server.
    """

    deployment: Lustre
    storage: Literal["ssd", "hdd"]
    sizes: tuple[int, ...]
    step: int
    throughput: tuple[int, ...]
    baseline: int | None = None
    server_gib: int

    def has_size(self, gib: int) -> bool:
        """Return true if AWS offers a file system of `gib`."""
        return gib in self.sizes or (gib > self.sizes[-1] and gib % self.step == 0)

    def next_size(self, gib: int) -> int:
        """Return the smallest valid size of at least `gib`."""
        return next((size for size in self.sizes if size >= gib), -(-gib // self.step) * self.step)


class IntelligentTiering(Facts):
    """Lustre without a size: throughput in MB/s of the whole file system, in steps; `cache_gib` for each step."""

    deployment: Lustre
    throughput_step: int
    throughput_max: int
    metadata_iops: tuple[int, ...]
    cache_gib: Range


class LustreEfaInterfaces(Facts):
    """Number of EFA interfaces that a Lustre client uses, of an instance with several network cards and with one."""

    several_cards: int
    one_card: int


class LustreEfa(Facts):
    """Lustre over EFA: capacity is a multiple of the step of its throughput. It can only be set at creation."""

    source: str
    deployment: Lustre
    step_gib: Mapping[int, int]
    needs_metadata_configuration: bool
    #: Instance families with EFA that cannot use it for Lustre.
    unsupported_families: tuple[str, ...]
    #: Operating systems whose clients support it.
    operating_systems: tuple[str, ...]
    #: EFA interfaces of a client that LNet uses, by instance type and of other types; and the limit of all clients' interfaces.
    client_interfaces: Mapping[str, int]
    client_interfaces_of_others: LustreEfaInterfaces
    connections: int


class Repositories(Facts):
    """Data repository associations of folders with S3."""

    most: int
    not_on: tuple[Lustre, ...]
    #: Deployments without the earlier form (import_path, export_path).
    older_way_not_on: tuple[Lustre, ...]
    versions: tuple[str, ...]
    excludes: tuple[str, ...]


class Backups(Facts):
    """Automatic backups: range of the retention in days (0: no backups), and deployments without backups."""

    days: Range
    not_on: tuple[str, ...] = ()
    not_with_repositories: bool = False


class DriveCache(Facts):
    """The only deployment and storage type that supports, and requires, a drive cache."""

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
        """Return the rows of a deployment with a storage type; empty if AWS does not offer the combination."""
        return tuple(row for row in self.deployments if (row.deployment, row.storage) == (deployment, storage))


class OpenZfsRow(Facts):
    """FSx for OpenZFS deployment: throughputs in MB/s, number of zones, with or without standby server."""

    throughput: tuple[int, ...]
    zones: int
    standby: bool
    intelligent_tiering: bool = False


class FsxOpenZfsFacts(Facts):
    """FSx for OpenZFS. `iops_per_gib` are included in the price."""

    ports: tuple[Ports, ...]
    capacity_gib: Range
    iops_per_gib: int
    deployments: Mapping[str, OpenZfsRow]
    backups: Backups
    compression: tuple[str, ...]
    record_kib: Range


class EfsFacts(Facts):
    """EFS. `not_together`: pairs of modes that exclude each other."""

    ports: tuple[Ports, ...]
    performance: tuple[str, ...]
    throughput: tuple[str, ...]
    not_together: tuple[tuple[str, str], ...]
    provisioned_least_mibps: int
    mount_targets_per_zone: int


class OntapFacts(Facts):
    """FSx for ONTAP; Landbridge only mounts it."""

    ports: tuple[Ports, ...]


def _absolute(folders: tuple[str, ...]) -> tuple[str, ...]:
    if any(not folder.startswith("/") for folder in folders):
        raise ValueError("folders are absolute")
    return folders


class ReservedMounts(Facts):
    """Folders that may not be mount points: `folders` themselves, `tree` including all subfolders."""

    folders: Annotated[tuple[str, ...], AfterValidator(_absolute)]
    tree: Annotated[tuple[str, ...], AfterValidator(_absolute)]

    def reserves(self, path: str) -> bool:
        """Return true if `path` may not be a mount point."""
        plain = "/" + path.strip("/")
        return plain in self.folders or any(plain == top or plain.startswith(f"{top}/") for top in self.tree)


class StorageFacts(Facts):
    """Facts of storage.yaml."""

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
