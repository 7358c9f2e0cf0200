"""Environment key `aws.pools`: equal EC2 instances that Slurm resumes and suspends."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.actions import PoolActions
from landbridge.environment.aws.capacity import Capacity, OnDemand
from landbridge.environment.aws.iam import PolicyArn
from landbridge.environment.base import AbsolutePath, Model, SlurmParameters, Text, Word

NicPolicy = Literal["ip_optimised", "bandwidth", "legacy"]
InterfaceType = Literal["interface", "efa", "efa-only"]
Placement = Literal["cluster", "partition", "spread", "none"]
ImageId = Annotated[str, StringConstraints(pattern=r"^(ami-[0-9a-f]{8,17}|[a-z]([a-z0-9-]{0,30}[a-z0-9])?)$")]
SecurityGroupId = Annotated[str, StringConstraints(pattern=r"^sg-[0-9a-f]{8,17}$")]


class Interface(Model):
    """Network interface of a launch template, for an explicit layout."""

    card: Annotated[int, Field(ge=0, le=63)]
    device: Annotated[int, Field(ge=0, le=63)]
    type: InterfaceType


class PoolSettings(Model):
    """Pool of equal instances with one launch template; its Slurm nodes are `<name>-[1-max_nodes]`."""

    name: Word
    instance: Text
    min_nodes: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="number of nodes that always run; for a Capacity Block all of its instances",
    )
    max_nodes: Annotated[int, Field(ge=1, le=1024)]
    capacity: Annotated[tuple[Capacity, ...], Field(min_length=1)] = Field(
        default=(OnDemand.model_construct(kind="on_demand"),),
        description="tried in this order; on-demand requires no purchase in advance",
    )
    placement: Placement | None = Field(
        default=None,
        description="strategy of the placement group; none: cluster if the capacity permits it, for low EFA latency",
    )
    placement_group: Text | None = Field(
        default=None, description="an existing placement group; none: Landbridge creates one"
    )
    image: ImageId | None = Field(
        default=None,
        description="ami-…, or a name of aws.images; required for a pool whose nodes run Slurm",
    )
    threads_per_core: Literal[1, 2] | None = Field(
        default=None,
        description="threads per core of the CPU options of every launch; 1 turns simultaneous multithreading (SMT) off; "
        "none: that of the instance type",
    )
    driver: Literal["auto", "open", "proprietary"] = Field(
        default="auto", description="NVIDIA's kernel modules; auto: open if the GPUs support them"
    )
    suspend_after: int = Field(
        default=600, ge=1, le=86_400, description="idle time in seconds before a node is suspended"
    )
    resume_timeout: int = Field(
        default=1200,
        ge=60,
        le=7200,
        description="time limit in seconds from launch to registration; GPU nodes need 4 to 10 minutes",
    )
    nics: NicPolicy = Field(
        default="ip_optimised",
        description="network interfaces; ip_optimised: one IP address per node, EFA on every card that supports it",
    )
    interfaces: tuple[Interface, ...] = Field(
        default=(), description="explicit network interfaces; empty: the layout of `nics`"
    )
    efa: bool | None = Field(default=None, description="none: on if the instance type supports EFA")
    public_ip: bool = Field(
        default=False,
        description="public IP address for each node; not needed, because nodes are reached through the link",
    )
    security_groups: tuple[SecurityGroupId, ...] = Field(
        default=(), description="existing security groups on every interface, in addition to the pool's"
    )
    root_device: Literal["/dev/xvda", "/dev/sda1"] | None = Field(
        default=None,
        description="root device name of the image; none: that of the operating system of a name of aws.images, else /dev/xvda",
    )
    root_volume_gib: int = Field(default=200, ge=8, le=65_536, description="encrypted gp3")
    root_volume_iops: int = Field(default=3000, ge=1, description="IOPS; 3000 are included in the price")
    root_volume_throughput: int = Field(
        default=250, ge=1, description="MiB/s; 125 are included in the price; a boot reads the whole image"
    )
    local_scratch: AbsolutePath | None = Field(
        default=None,
        description="mount point of the instance store volumes (NVMe), for jobs' temporary folders; none: not mounted",
    )
    imds_hop_limit: int = Field(
        default=1,
        ge=1,
        le=64,
        description="hop limit of instance metadata; 1: containers cannot read the node's credentials",
    )
    detailed_monitoring: bool = Field(default=False, description="CloudWatch metrics every minute; billed per metric")
    features: tuple[Word, ...] = Field(default=(), description="additional Slurm features, for `sbatch --constraint`")
    node_policies: tuple[PolicyArn, ...] = Field(
        default=(),
        description="managed policies of this pool's nodes, for agents that run as root, besides aws.iam.node_policies; "
        "the pool then has its own node role; jobs do not have them",
    )
    slurm: SlurmParameters = Field(
        default={},
        description="keys of the NodeName line of its nodes in slurm.conf, such as Weight; null deletes a key; those of "
        "its partition are in scheduler.partitions",
    )
    actions: PoolActions = PoolActions.with_defaults()
    tags: Mapping[Text, Text] = Field(
        default={}, description="tags on this pool's instances, in addition to the environment's"
    )
