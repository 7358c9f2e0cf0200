"""Storage: home directories, the data hub between the sites, file systems in AWS and on-prem."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.data_hub import S3DataHub
from landbridge.environment.aws.file_systems import CloudShare, Efs, FsxLustre, FsxOpenZfs
from landbridge.environment.base import AbsolutePath, Model, Text, Url, Word


class NfsHome(Model):
    """Home directories exported by the storage host, mounted everywhere on-prem."""

    kind: Literal["nfs"] = "nfs"
    server: Literal["kernel", "ganesha"] = Field(default="kernel", description="ganesha where the kernel has no nfsd")
    export: AbsolutePath = "/export/home"
    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(
        default=True, description="mounted there through the link; false: homes may hold what must not leave the site"
    )


class ExternalNfsHome(Model):
    """Home directories of a filer that Landbridge does not configure."""

    kind: Literal["external_nfs"]
    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")]
    export: AbsolutePath
    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(
        default=True, description="mounted there through the link; false: homes may hold what must not leave the site"
    )
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "vers=4.2,hard,nosuid,nodev"


class EfsHome(Efs):
    """Home directories in EFS: grows by itself, in every zone; for environments whose services are in AWS."""

    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(default=True, description="false: the login hosts alone have them")


class OpenZfsHome(FsxOpenZfs):
    """Home directories in FSx for OpenZFS: quick for many small files; for environments whose services are in AWS."""

    mount: AbsolutePath = "/home"
    on_cloud_nodes: bool = Field(default=True, description="false: the login hosts alone have them")


class SiteNfs(Model):
    """A folder of a filer of the site's."""

    kind: Literal["nfs"]
    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")]
    export: AbsolutePath
    mount: AbsolutePath
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "vers=4.2,hard,nosuid,nodev,nconnect=4"


class SiteLustre(Model):
    """A Lustre file system of the site's; no distribution has its client (`lustre_client`)."""

    kind: Literal["lustre"]
    source: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z.,:@_-]+:/[A-Za-z0-9._/-]+$")] = Field(
        description="management servers and file system, as mount.lustre takes them"
    )
    mount: AbsolutePath
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "noatime,flock,nosuid,nodev"
    networks: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9(),_.-]*$")] = Field(
        default="", description="of LNet, such as o2ib(ib0); empty: TCP on the first interface"
    )


SiteShare = Annotated[SiteNfs | SiteLustre, Field(discriminator="kind")]


class LustreClient(Model):
    """Package source of the Lustre client, for on-prem hosts and for node images: no distribution has it."""

    mirror: Url | None = Field(default=None, description="a repository; none: the hosts have one that holds it")
    suites: Text = Field(default="./", description="of an apt repository; ./ where it is one folder")
    components: Text | None = Field(default=None, description="of an apt repository; none: it is one folder")
    key: str | None = Field(
        default=None, description="public key that signs the repository: PGP text, or a file on the hosts"
    )
    packages: tuple[Text, ...] = Field(default=(), description="none named: as Lustre itself calls them")

    @property
    def known(self) -> bool:
        """Return true when a source is set."""
        return self.mirror is not None or bool(self.packages)


class Storage(Model):
    """On-prem storage is the source of truth; the hub is the exchange. Where services are in AWS, homes are there too."""

    home: Annotated[NfsHome | ExternalNfsHome | EfsHome | OpenZfsHome, Field(discriminator="kind")] = NfsHome()
    data_hub: S3DataHub = S3DataHub()
    cloud_scratch: FsxLustre | None = Field(
        default=None, description="jobs that read much need it; it is billed while it exists"
    )
    cloud_shares: Mapping[Word, CloudShare] = Field(
        default={}, description="more file systems in AWS, by name; each is billed while it exists"
    )

    site_shares: Mapping[Word, SiteShare] = Field(
        default={}, description="file systems of the site, by name, that its nodes and login hosts mount"
    )
    lustre_client: LustreClient = LustreClient()

    def in_aws(self) -> dict[tuple[str, ...], FsxLustre | FsxOpenZfs | Efs]:
        """Every file system in AWS by its path inside `storage`."""
        first: dict[tuple[str, ...], FsxLustre | FsxOpenZfs | Efs] = {}
        if isinstance(self.home, Efs | FsxOpenZfs):
            first[("home",)] = self.home
        if self.cloud_scratch is not None:
            first[("cloud_scratch",)] = self.cloud_scratch
        return first | {("cloud_shares", name): share for name, share in self.cloud_shares.items()}
