"""Images of aws.images: one of AWS's by the name of its parameter, or one that is built from the cluster's own roles."""

from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text, Url, Word, Zone

#: As EventBridge writes schedules. Source: EC2 Image Builder User Guide, "Use cron expressions in Image Builder".
Cron = Annotated[str, StringConstraints(pattern=r"^cron\(\S+ \S+ \S+ \S+ \S+( \S+)?\)$")]


class ImageBuild(Model):
    """An image that EC2 Image Builder makes with the roles that configure on-prem nodes."""

    parent: Word | None = Field(
        default=None, description="a name of aws.images to start from; none: Debian 13, locked as any other"
    )
    instance: Text | None = Field(
        default=None, description="what it is built on; none: a small one with the parent's kind of processor"
    )
    zone: Zone | None = Field(default=None, description="where it is built; none: the first zone of the nodes")
    disk_gib: int = Field(default=30, ge=8, le=1024, description="no root volume of a node may be smaller")
    schedule: Cron | None = Field(
        default=None, description="such as cron(0 3 ? * sun *), UTC; none: only when the pipeline is started by hand"
    )
    keep: int = Field(default=5, ge=2, le=1000, description="newest ones; older ones go with their snapshots")
    keep_days: int = Field(
        default=90, ge=1, le=365, description="one that was launched in this time stays, however old it is"
    )
    apt_mirror: Url = Field(
        default="https://deb.debian.org/debian", description="Debian's packages, for suites that the parent has not"
    )
    apt_proxy: Url | None = Field(default=None, description="for the build alone; none: straight to the sources")
    python_find_links: Url | None = Field(
        default=None, description="a folder of wheels, as nodes on-prem have; none: theirs, else the package index"
    )


class ImageSource(Model):
    """An image of AWS's by the name of its public parameter, or one that is built here; one of the two.

    `landbridge lock` writes down what it stands for.
    """

    parameter: Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9_./-]+$")] | None = Field(
        default=None, description="a parameter of Systems Manager that holds an image's id"
    )
    build: ImageBuild | None = Field(default=None, description="EC2 Image Builder makes it with the cluster's roles")
    note: Text | None = None
