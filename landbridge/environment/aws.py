"""The AWS half: one VPC and the pools of GPU instances that come and go in it."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text, Url, Word
from landbridge.environment.capacity import Capacity, OnDemand

NicPolicy = Literal["ip_optimised", "bandwidth", "legacy"]


class Endpoints(Model):
    """An AWS that is not the public one, as each place sees it: an emulation, a proxy, private endpoints."""

    operator: Url | None = None
    onprem: Url | None = None
    cloud: Url | None = None


class Pool(Model):
    """Equal instances behind one launch template; their Slurm nodes are `<name>-[1-max_nodes]`."""

    name: Word
    instance: Text
    max_nodes: Annotated[int, Field(ge=1, le=1024)]
    capacity: Annotated[tuple[Capacity, ...], Field(min_length=1)] = Field(
        default=(OnDemand(kind="on_demand"),), description="tried in this order; on-demand needs no purchase in advance"
    )
    image: Annotated[str, StringConstraints(pattern=r"^ami-[0-9a-f]{8,17}$")] | None = Field(
        default=None, description="none: the newest image that node_image.yml has built for this cluster"
    )
    suspend_after: int = Field(default=600, ge=1, le=86_400, description="idle seconds before a node is given back")
    resume_timeout: int = Field(
        default=1200, ge=60, le=7200, description="seconds to boot: GPU nodes take 4 to 10 minutes"
    )
    nics: NicPolicy = Field(default="ip_optimised", description="one IP address a node, EFA on every card that has it")
    root_device: Literal["/dev/xvda", "/dev/sda1"] = Field(
        "/dev/xvda", description="the image's; Ubuntu's is /dev/sda1"
    )
    root_volume_gib: int = Field(default=200, ge=8, le=16_384, description="encrypted gp3")
    features: tuple[Word, ...] = Field(default=(), description="more words for `sbatch --constraint`")


class Aws(Model):
    """Everything that is built in AWS."""

    cidr: IPv4Network
    nat: Literal["none", "single", "per_zone"] = Field(
        default="none", description="S3 needs none, and traffic through it costs"
    )
    account: Annotated[str, StringConstraints(pattern=r"^\d{12}$")] | None = Field(
        default=None, description="the only AWS account that `landbridge up` may touch"
    )
    endpoints: Endpoints = Endpoints()
    pools: tuple[Pool, ...] = ()
    protect: bool = Field(
        default=True, description="buckets, keys and secrets outlive `landbridge destroy`; false: it leaves nothing"
    )
    lease_minutes: int = Field(
        default=30, ge=5, le=1440, description="an instance whose lease nobody renews ends itself"
    )
    tags: Mapping[Text, Text] = Field(default={}, description="on everything, besides Landbridge's own")
