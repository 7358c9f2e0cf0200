"""FSx and EFS file systems in AWS, with every setting resolved and the rules of their security groups."""

import re
from typing import Literal

from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import DataRepository, Efs, Environment, FsxLustre, FsxOpenZfs
from landbridge.findings import DataPath, Finding, FindingsError
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.storage.efs_access import EfsAccess, efs_access
from landbridge.plan.aws.storage.file_system_rules import FileSystemSecurityGroupRule, file_system_security_group_rules
from landbridge.plan.aws.storage.nfs_export import root_clients
from landbridge.plan.storage import Share, resolve, zones, zones_needed

#: Options of an NFS client that AWS recommends for EFS and OpenZFS alike.
#: Source: EFS User Guide, "Recommended NFS mount options"; FSx for OpenZFS User Guide, "Mounting volumes".
NFS_OPTIONS = "hard,timeo=600,retrans=2,rsize=1048576,wsize=1048576,noresvport,_netdev"
#: Source: FSx for Lustre User Guide, "Mounting from an Amazon EC2 instance".
LUSTRE_OPTIONS = "noatime,flock,_netdev"


class RepositoryPlan(Args):
    """FSx data repository association: a folder linked to a data class's bucket or to `url`. `key` is independent of
    its position.
    """

    key: str
    folder: str
    data_class: str | None = None
    url: str | None = None
    export: bool


class LustreSettings(Args):
    """FSx for Lustre settings in FSx's terms. A None is not sent, because the deployment type does not support it."""

    kind: Literal["fsx_lustre"] = "fsx_lustre"
    deployment: str
    storage_type: str
    version: str
    capacity_gib: int | None
    #: MB/s for each TiB.
    throughput_per_tib: int | None
    #: MB/s of the whole file system, with intelligent tiering only.
    throughput: int | None
    #: With intelligent tiering only; for other types FSx derives them from the size.
    metadata_iops: int | None
    automatic_metadata: bool
    drive_cache: str | None
    efa: bool
    compression: str
    import_path: str | None
    export_path: str | None
    repositories: tuple[RepositoryPlan, ...]


class OpenZfsSettings(Args):
    """FSx for OpenZFS settings in FSx's terms. `clients` are the CIDR ranges of the NFS export, whose root users are squashed;
    `root_clients` are addresses and ranges whose root user is root.
    """

    kind: Literal["fsx_openzfs"] = "fsx_openzfs"
    deployment: str
    capacity_gib: int
    throughput: int
    iops: int | None
    clients: tuple[str, ...]
    root_clients: tuple[str, ...]


class EfsSettings(Args):
    """EFS settings in EFS's terms."""

    kind: Literal["efs"] = "efs"
    performance: str
    throughput: str
    provisioned_mibps: int | None
    #: None: mounted in clear text.
    access: EfsAccess | None = None


class FileSystemArgs(Args):
    """Shared file system: its type, zones, clients and the protection of its data.

    `zones` are those of its addresses; `backup_days` is None if it does not support backups (0: supported, none kept).
    """

    cluster: str
    #: Key in the stack's outputs.
    share: str
    name: str
    settings: LustreSettings | OpenZfsSettings | EfsSettings
    zones: tuple[str, ...]
    security_group_rules: tuple[FileSystemSecurityGroupRule, ...]
    #: True if it supports a customer managed KMS key; AWS encrypts other file systems with an AWS managed key.
    own_key: bool
    backup_days: int | None
    maintenance: str | None
    mount: str
    protect: bool
    tags: dict[str, str]

    @property
    def final_backup(self) -> bool:
        """True if deleting the file system leaves a backup: protected, and its deployment supports backups."""
        return self.protect and self.backup_days is not None


def file_system_args(environment: Environment) -> tuple[FileSystemArgs, ...]:
    """Plan every file system in AWS. Raises FindingsError for one with fewer zones than it needs."""
    return tuple(_planned(environment, path, share) for path, share in environment.storage.in_aws().items())


def imported_classes(environment: Environment) -> frozenset[str]:
    """Return the data classes whose buckets a file system is linked to: FSx needs access to their KMS keys."""
    shares = environment.storage.in_aws().values()
    lustre = (share for share in shares if isinstance(share, FsxLustre))
    return frozenset(
        repository.data_class
        for share in lustre
        for repository in share.repositories
        if repository.data_class is not None
    )


def _planned(environment: Environment, path: DataPath, share: Share) -> FileSystemArgs:
    # The file's own names have no underscore, and a rule reserves `home` for home directories.
    name = str(path[-1])
    label = f"share-{name}" if len(path) > 1 else name.replace("_", "-")
    return FileSystemArgs(
        cluster=environment.name,
        share=name,
        name=f"{environment.name}-{label}",
        settings=_settings(environment, share),
        zones=_zones(environment, path, share),
        security_group_rules=file_system_security_group_rules(environment, share),
        own_key=not (isinstance(share, FsxLustre) and share.deployment in facts().fsx_lustre.own_key_not_on),
        backup_days=_backup_days(share),
        maintenance=share.maintenance if not isinstance(share, Efs) else None,
        mount=share.mount,
        protect=environment.aws.protect,
        tags=tags(environment, filesystem=name),
    )


def _zones(environment: Environment, path: DataPath, share: Share) -> tuple[str, ...]:
    share_zones = zones(environment, share)
    if len(share_zones) < zones_needed(share):
        message = f"it needs subnets in {zones_needed(share)} zones, and there are {len(share_zones)}"
        fix = "add a pool, or more zones to a pool: file systems are in the zones of pools"
        raise FindingsError([Finding("storage-without-zone", message, ("storage", *path), fix)])
    return share_zones


def _backup_days(share: Share) -> int | None:
    if isinstance(share, FsxLustre):
        backups = facts().fsx_lustre.backups
        linked = bool(share.repositories or share.import_path)
        if share.deployment in backups.not_on or (backups.not_with_repositories and linked):
            return None
        return share.backup_days
    return share.backup_days if isinstance(share, FsxOpenZfs) else int(share.backups)


def _settings(environment: Environment, share: Share) -> LustreSettings | OpenZfsSettings | EfsSettings:
    resolved = resolve(share)
    if isinstance(share, FsxLustre):
        return _lustre(share)
    if isinstance(share, Efs):
        performance_modes = {"general_purpose": "generalPurpose", "max_io": "maxIO"}
        return EfsSettings(
            performance=performance_modes[share.performance],
            throughput=share.throughput,
            provisioned_mibps=share.provisioned_mibps,
            access=efs_access(share),
        )
    if resolved.throughput is None:
        raise ValueError(f"{share.deployment} has no known throughput")
    return OpenZfsSettings(
        deployment=share.deployment.upper(),
        capacity_gib=share.capacity_gib,
        throughput=resolved.throughput,
        iops=share.iops,
        clients=tuple(str(cidr) for cidr in (environment.aws.cidr, *environment.aws.secondary_cidrs)),
        root_clients=root_clients(environment, share),
    )


def _lustre(share: FsxLustre) -> LustreSettings:
    lustre, resolved = facts().fsx_lustre, resolve(share)
    is_elastic = share.storage_type == "intelligent_tiering"
    cache = lustre.drive_cache
    has_cache = (share.deployment, share.storage_type) == (cache.deployment, cache.storage)
    versions = [version for version, deployments in lustre.versions.items() if share.deployment in deployments]
    return LustreSettings(
        deployment=share.deployment.upper(),
        storage_type=share.storage_type.upper(),
        version=max(versions, key=lambda version: tuple(map(int, version.split(".")))),
        capacity_gib=None if is_elastic else resolved.capacity_gib,
        throughput_per_tib=None if is_elastic else resolved.throughput,
        throughput=resolved.throughput if is_elastic else None,
        metadata_iops=min(lustre.intelligent_tiering.metadata_iops) if is_elastic else None,
        automatic_metadata=not is_elastic and share.efa and lustre.efa.needs_metadata_configuration,
        drive_cache="NONE" if has_cache else None,
        efa=share.efa,
        compression=share.compression.upper(),
        import_path=share.import_path,
        export_path=share.export_path,
        repositories=tuple(map(_repository, share.repositories)),
    )


def _repository(settings: DataRepository) -> RepositoryPlan:
    # A file system has each folder once, so it identifies the association.
    key = re.sub(r"[^a-z0-9]+", "-", settings.folder.lower()).strip("-") or "root"
    return RepositoryPlan(
        key=key, folder=settings.folder, data_class=settings.data_class, url=settings.bucket, export=settings.export
    )
