"""Where data lives: home directories, the exchange between the sites, scratch space in AWS."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Word
from landbridge.environment.filesystems import CloudShare, Efs, FsxLustre, FsxOpenZfs
from landbridge.environment.hub import S3Hub


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


class Storage(Model):
    """On-prem storage is the source of truth; the hub is the exchange."""

    home: Annotated[NfsHome | ExternalNfsHome, Field(discriminator="kind")] = NfsHome()
    hub: S3Hub = S3Hub()
    cloud_scratch: FsxLustre | None = Field(
        default=None, description="jobs that read much need it; it is billed while it exists"
    )
    cloud_shares: Mapping[Word, CloudShare] = Field(
        default={}, description="more file systems in AWS, by name; each is billed while it exists"
    )

    def in_aws(self) -> dict[tuple[str, ...], FsxLustre | FsxOpenZfs | Efs]:
        """Every file system in AWS by its path inside `storage`."""
        first: dict[tuple[str, ...], FsxLustre | FsxOpenZfs | Efs] = {}
        if self.cloud_scratch is not None:
            first[("cloud_scratch",)] = self.cloud_scratch
        return first | {("cloud_shares", name): share for name, share in self.cloud_shares.items()}
