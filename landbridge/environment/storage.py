"""Environment key `storage`: home directories, data hub, file systems in AWS and on-prem."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.data_hub import S3DataHub
from landbridge.environment.aws.existing_file_systems import ExistingLustre, ExistingShare
from landbridge.environment.aws.file_systems import CloudShare, Efs, FsxLustre, FsxOpenZfs
from landbridge.environment.base import AbsolutePath, Model, Text, Url, Word
from landbridge.environment.onprem.object_store import ObjectStore


class HomeCopies(Model):
    """Copies of the home directories in a restic repository: in the bucket of a data class, or at another place."""

    data_class: Word | None = Field(
        default=None,
        description="data class whose bucket has the copies, below landbridge-backups/; one that holds everything that homes may "
        "hold; with its object_lock and replica_region the copies are locked, and in another region",
    )
    repository: (
        Annotated[
            str,
            StringConstraints(
                pattern=r"^(sftp:[a-z0-9._-]+@[a-z0-9.-]+:|rest:https://[a-z0-9.:-]+|)/[A-Za-z0-9._/-]+$"
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="repository of restic at another place on-prem: sftp:USER@HOST:/PATH, rest:https://HOST:PORT/PATH, or a path",
    )
    hours: Literal[1, 2, 3, 4, 6, 8, 12, 24] = Field(
        default=1, description="hours between two copies: the recovery point"
    )
    keep_days: int = Field(default=30, ge=1, le=3650, description="days for which a daily copy is kept")


class NfsHome(Model):
    """Home directories on the storage host, mounted on every on-prem host."""

    kind: Literal["nfs"] = "nfs"
    server: Literal["kernel", "ganesha"] = Field(
        default="kernel", description="ganesha: user-space NFS server, for kernels without nfsd"
    )
    export: AbsolutePath = "/export/home"
    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(
        default=True,
        description="mounted on cloud nodes through the link; false: for homes with data that must not leave the site",
    )
    copies: HomeCopies | None = Field(default=None, description="copies of the homes outside the site; none: no copy")


class ExternalNfsHome(Model):
    """Home directories on an NFS server that Landbridge does not configure."""

    kind: Literal["external_nfs"]
    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")]
    export: AbsolutePath
    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(
        default=True,
        description="mounted on cloud nodes through the link; false: for homes with data that must not leave the site",
    )
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "vers=4.2,hard,nosuid,nodev"


class EfsHome(Efs):
    """Home directories in EFS (grows automatically, in every zone), for environments whose services are in AWS."""

    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(default=True, description="mounted on cloud nodes; false: only on the login hosts")
    copies: HomeCopies | None = Field(
        default=None,
        description="the copies of a site's homes, for their restore and for the return to the site; no timer makes copies",
    )


class OpenZfsHome(FsxOpenZfs):
    """Home directories in FSx for OpenZFS, fast for many small files; for environments whose services are in AWS."""

    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(default=True, description="mounted on cloud nodes; false: only on the login hosts")
    copies: HomeCopies | None = Field(
        default=None,
        description="the copies of a site's homes, for their restore and for the return to the site; no timer makes copies",
    )


class SiteNfs(Model):
    """NFS export of an on-prem server."""

    kind: Literal["nfs"]
    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")]
    export: AbsolutePath
    mount: AbsolutePath
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "vers=4.2,hard,nosuid,nodev,nconnect=4"


class SiteLustre(Model):
    """On-prem Lustre file system; no distribution contains its client (see `lustre_client`)."""

    kind: Literal["lustre"]
    source: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z.,:@_-]+:/[A-Za-z0-9._/-]+$")] = Field(
        description="management servers and file system, in the format of mount.lustre"
    )
    mount: AbsolutePath
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "noatime,flock,nosuid,nodev"
    networks: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9(),_.-]*$")] = Field(
        default="", description="LNet networks, such as o2ib(ib0); empty: TCP on the first interface"
    )


SiteShare = Annotated[SiteNfs | SiteLustre, Field(discriminator="kind")]


class LustreClient(Model):
    """Package source of the Lustre client, for on-prem hosts and node images: no distribution contains it."""

    mirror: Url | None = Field(
        default=None, description="URL of the repository; none: a package source of the hosts contains it"
    )
    suites: Text = Field(default="./", description="suites of an apt repository; ./ for a flat one")
    components: Text | None = Field(
        default=None, description="components of an apt repository; none: a flat repository"
    )
    key: str | None = Field(
        default=None, description="public key that signs the repository: PGP text, or a file on the hosts"
    )
    packages: tuple[Text, ...] = Field(default=(), description="package names; empty: those of the Lustre project")

    @property
    def known(self) -> bool:
        """Return true if a source is set."""
        return self.mirror is not None or bool(self.packages)


class DatasetCache(Model):
    """Read-through cache of staged datasets on the node's own disk (`local_scratch`), for jobs that call `landbridge-data`. A node in
    AWS reads the bucket of the class.
    """

    size_gib: int = Field(
        gt=0, description="limit of all cached datasets of a node; least recently used ones are removed"
    )
    remove_after_job: tuple[Word, ...] = Field(
        default=(), description="data classes whose datasets are removed after the last job of the node that uses them"
    )


class DataStaging(Model):
    """Staging of the data that jobs state: the storage host copies them to where a job runs, and the job is held
    meanwhile.
    """

    folder: AbsolutePath = Field(
        description="folder on the storage host, exported to nodes: a version is FOLDER/CLASS/NAME/VERSION"
    )
    mount: AbsolutePath = Field(description="the same folder on nodes")
    groups: Mapping[Word, Word] = Field(
        default={},
        description="group of the storage host and nodes that reads a data class's folder; none: only root reads it",
    )
    limit_mbps: float | None = Field(
        default=None, gt=0, description="bandwidth limit of the transfers in Mbit/s; none: no limit"
    )
    cache: DatasetCache | None = Field(
        default=None,
        description="copies on nodes and pools with local_scratch; none: jobs read from the storage host, in AWS from the bucket or its file system",
    )


class Storage(Model):
    """Storage of both sites. On-prem file systems are the source of truth, and the data hub is the exchange. If the
    services are in AWS, so are home directories.
    """

    home: Annotated[NfsHome | ExternalNfsHome | EfsHome | OpenZfsHome, Field(discriminator="kind")] = (
        NfsHome.with_defaults()
    )
    data_hub: S3DataHub = S3DataHub.with_defaults()
    cloud_scratch: FsxLustre | None = Field(
        default=None, description="FSx for Lustre for jobs with many reads; billed while it exists"
    )
    cloud_shares: Mapping[Word, CloudShare] = Field(
        default={}, description="more file systems in AWS, by name; each created one is billed while it exists"
    )

    site_shares: Mapping[Word, SiteShare] = Field(
        default={}, description="on-prem file systems, by name, that the site's nodes and login hosts mount"
    )
    lustre_client: LustreClient = LustreClient.with_defaults()
    staging: DataStaging | None = Field(
        default=None,
        description="data that jobs state with --comment=data=NAME:VERSION; none: such a comment has no effect",
    )
    object_store: ObjectStore | None = Field(
        default=None, description="object store of the site; none: no data class has a bucket on-prem"
    )

    @property
    def home_copies(self) -> HomeCopies | None:
        """Settings of the copies of homes outside the site; None without them."""
        return getattr(self.home, "copies", None)

    def in_aws(self) -> dict[tuple[str, ...], FsxLustre | FsxOpenZfs | Efs]:
        """Return the file systems in AWS that Landbridge creates, by path inside `storage`."""
        first: dict[tuple[str, ...], FsxLustre | FsxOpenZfs | Efs] = {}
        if isinstance(self.home, Efs | FsxOpenZfs):
            first[("home",)] = self.home
        if self.cloud_scratch is not None:
            first[("cloud_scratch",)] = self.cloud_scratch
        shares = self.cloud_shares.items()
        return first | {("cloud_shares", name): share for name, share in shares if not isinstance(share, ExistingShare)}

    def existing(self) -> dict[tuple[str, ...], ExistingShare]:
        """Return the existing file systems in AWS, which Landbridge only mounts, by path inside `storage`."""
        shares = self.cloud_shares.items()
        return {("cloud_shares", name): share for name, share in shares if isinstance(share, ExistingShare)}

    @property
    def lustre_in_aws(self) -> tuple[str, ...] | None:
        """Return the path of the first Lustre file system in AWS, created or existing; None without one."""
        systems = {**self.in_aws(), **self.existing()}.items()
        return next((path for path, share in systems if isinstance(share, FsxLustre | ExistingLustre)), None)
