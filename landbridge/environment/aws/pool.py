"""A pool: equal instances in AWS that come and go as Slurm asks for them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.capacity import Capacity, OnDemand
from landbridge.environment.base import AbsolutePath, Model, Text, Word

NicPolicy = Literal["ip_optimised", "bandwidth", "legacy"]
InterfaceType = Literal["interface", "efa", "efa-only"]
Placement = Literal["cluster", "partition", "spread", "none"]
ImageId = Annotated[str, StringConstraints(pattern=r"^(ami-[0-9a-f]{8,17}|[a-z]([a-z0-9-]{0,30}[a-z0-9])?)$")]
SecurityGroupId = Annotated[str, StringConstraints(pattern=r"^sg-[0-9a-f]{8,17}$")]


class Interface(Model):
    """Network interface of a launch, for a layout by hand."""

    card: Annotated[int, Field(ge=0, le=63)]
    device: Annotated[int, Field(ge=0, le=63)]
    type: InterfaceType


class PoolSettings(Model):
    """Equal instances behind one launch template; their Slurm nodes are `<name>-[1-max_nodes]`."""

    name: Word
    instance: Text
    min_nodes: int = Field(
        default=0, ge=0, le=1024, description="kept running, busy or not; a Capacity Block needs all of it"
    )
    max_nodes: Annotated[int, Field(ge=1, le=1024)]
    capacity: Annotated[tuple[Capacity, ...], Field(min_length=1)] = Field(
        default=(OnDemand(kind="on_demand"),), description="tried in this order; on-demand needs no purchase in advance"
    )
    placement: Placement | None = Field(
        default=None, description="none: a cluster group where the capacity allows one, so that EFA has short ways"
    )
    placement_group: Text | None = Field(default=None, description="one of yours; none: Landbridge makes its own")
    image: ImageId | None = Field(
        default=None,
        description="ami-…, or a name of aws.images; none: the newest that node_image.yml has built for this cluster",
    )
    driver: Literal["auto", "open", "proprietary"] = Field(
        default="auto", description="NVIDIA's kernel modules; auto: open where the GPUs work with them"
    )
    suspend_after: int = Field(default=600, ge=1, le=86_400, description="idle seconds before a node is given back")
    resume_timeout: int = Field(
        default=1200, ge=60, le=7200, description="seconds to boot: GPU nodes take 4 to 10 minutes"
    )
    nics: NicPolicy = Field(default="ip_optimised", description="one IP address a node, EFA on every card that has it")
    interfaces: tuple[Interface, ...] = Field(
        default=(), description="by hand, instead of what `nics` lays out; none named: as `nics` says"
    )
    efa: bool | None = Field(default=None, description="none: wherever the type has it")
    public_ip: bool = Field(default=False, description="nodes are reached through the link")
    security_groups: tuple[SecurityGroupId, ...] = Field(
        default=(), description="of yours, on every interface besides the pool's"
    )
    root_device: Literal["/dev/xvda", "/dev/sda1"] = Field(
        "/dev/xvda", description="the image's; Ubuntu's is /dev/sda1"
    )
    root_volume_gib: int = Field(default=200, ge=8, le=65_536, description="encrypted gp3")
    root_volume_iops: int = Field(default=3000, ge=1, description="3000 are included")
    root_volume_throughput: int = Field(
        default=250, ge=1, description="MiB/s; 125 are included, and the whole image is read at every boot"
    )
    local_scratch: AbsolutePath | None = Field(
        default=None, description="where the instance's own NVMe is mounted, for jobs' folders; none: it is left alone"
    )
    imds_hop_limit: int = Field(default=1, ge=1, le=64, description="1: containers cannot reach the node's credentials")
    detailed_monitoring: bool = Field(default=False, description="CloudWatch every minute; billed per metric")
    features: tuple[Word, ...] = Field(default=(), description="more words for `sbatch --constraint`")
    tags: Mapping[Text, Text] = Field(default={}, description="on this pool's instances, besides the environment's")
