"""Environment key `aws.images`: public images by parameter name, and node images built with the cluster's roles."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Region, Text, Url, Word, Zone

#: Format of EventBridge schedules. Source: EC2 Image Builder User Guide, "Use cron expressions in Image Builder".
Cron = Annotated[str, StringConstraints(pattern=r"^cron\(\S+ \S+ \S+ \S+ \S+( \S+)?\)$")]
#: Checks of the role node_verify.
NodeCheck = Literal[
    "boto3",
    "cloud-init",
    "containers",
    "dcgm",
    "driver",
    "efa",
    "efa-devices",
    "efs",
    "fabric-manager",
    "files",
    "gpus",
    "health",
    "huge-pages",
    "imex",
    "leftovers",
    "lustre",
    "memlock",
    "nouveau",
    "nvme",
    "ofi-nccl",
    "pool",
    "root-volume",
    "secrets",
    "slurm",
    "time",
    "units",
]


class NodeChecks(Model):
    """Checks of node images and of nodes at their first boot: docs/explanation/node-image-contract.md."""

    skip: tuple[NodeCheck, ...] = Field(
        default=(), description="checks that do not apply to your nodes; a node that fails any other takes no job"
    )


KeyArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/[A-Za-z0-9/_-]+$")
]


class ImageBuild(Model):
    """Node image that EC2 Image Builder creates with the roles that configure on-prem nodes."""

    parent: Word | None = Field(
        default=None,
        description="parent image, a name of aws.images or of a public image such as debian-13; none: AWS's Deep Learning Base AMI with Ubuntu 24.04, NVIDIA's open driver, EFA and DCGM",
    )
    instance: Text | None = Field(
        default=None,
        description="instance type of the build; none: a small one with the parent's processor architecture",
    )
    zone: Zone | None = Field(default=None, description="zone of the build; none: the first zone of the nodes")
    disk_gib: int = Field(
        default=100, ge=8, le=1024, description="size of the image; a node's root volume must be at least as large"
    )
    share_with: tuple[Annotated[str, StringConstraints(pattern=r"^\d{12}$")], ...] = Field(
        default=(), description="AWS accounts that may launch the image; requires kms_keys"
    )
    kms_keys: Mapping[Region, KeyArn] = Field(
        default={},
        description="KMS key of the image by region; none: the account's key for EBS, with which an image cannot be shared",
    )
    schedule: Cron | None = Field(
        default=None, description="such as cron(0 3 ? * sun *), UTC; none: an operator starts the pipeline manually"
    )
    keep: int = Field(
        default=5,
        ge=2,
        le=1000,
        description="number of newest images that are kept; older ones are deleted with their snapshots",
    )
    keep_days: int = Field(
        default=90,
        ge=1,
        le=365,
        description="an image that was launched within this number of days is kept, whatever its age",
    )
    apt_mirror: Url = Field(
        default="https://deb.debian.org/debian",
        description="repository of Debian packages, for suites that a parent image with Debian does not configure",
    )
    apt_proxy: Url | None = Field(
        default=None, description="proxy for apt, only for the build; none: direct access to the repositories"
    )
    python_find_links: Url | None = Field(
        default=None, description="folder of wheels; none: that of the on-prem nodes, else the package index"
    )


class ImageSource(Model):
    """Image by the name of its public parameter, or a node image that Landbridge builds; exactly one of the two.

    `landbridge lock` records the AMI of the name.
    """

    parameter: Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9_./-]+$")] | None = Field(
        default=None, description="parameter of Systems Manager that contains an image id"
    )
    build: ImageBuild | None = Field(
        default=None, description="EC2 Image Builder creates the image with the cluster's roles"
    )
    note: Text | None = None
