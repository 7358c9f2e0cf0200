"""Where data lives: home directories, the exchange between the sites, scratch space in AWS."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Zone


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


class S3Hub(Model):
    """One bucket per data class: versioned, encrypted with its own key, closed to the public."""

    kind: Literal["s3"] = "s3"
    noncurrent_days: int = Field(
        default=30, ge=1, le=3650, description="how long an overwritten object can be brought back"
    )


class FsxLustre(Model):
    """Lustre in the pool's zone, linked to the hub."""

    kind: Literal["fsx_lustre"]
    capacity_gib: int = Field(default=4800, ge=1200, description="1200, or a multiple of 2400")
    throughput: Literal[125, 250, 500, 1000] = Field(default=250, description="MB/s per TiB")
    mount: AbsolutePath = "/scratch"
    zone: Zone | None = Field(default=None, description="none: the first pool's first zone")


class Storage(Model):
    """On-prem storage is the source of truth; the hub is the exchange."""

    home: Annotated[NfsHome | ExternalNfsHome, Field(discriminator="kind")] = NfsHome()
    hub: S3Hub = S3Hub()
    cloud_scratch: FsxLustre | None = Field(
        default=None, description="jobs that read much need it; it is billed while it exists"
    )
