"""Slurm: its version, its queues, who may use them, and anything a site wants otherwise."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import HostRange, Model, Port, Scalar, Text, Url, UserName, Word
from landbridge.environment.slurm.qos import Qos, TimeLimit

SlurmKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
SlurmParameters = Mapping[SlurmKey, Scalar | None]
SlurmVersion = Literal["23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]


class SlurmSettings(Model):
    """Slurm version and the source of its packages."""

    version: SlurmVersion = Field(default="26.05", description="current; 24.11 is what Debian 13 carries itself")
    packages_release: Word | None = Field(
        default=None, description="Debian release to take it from; none: where the version is"
    )
    packages_mirror: Url | None = Field(
        default="http://deb.debian.org/debian",
        description="where that release is, for Slurm's packages alone; none: the hosts' own sources name it",
    )
    packaging: Literal["debian", "schedmd"] = Field(
        default="debian",
        description="whose packages: Debian's, or Slurm's own as `landbridge packages slurm` builds them (slurm-smd)",
    )
    packages_key: Annotated[str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)] | None = (
        Field(default=None, description="public key that signs that release; none: Debian's own")
    )


class Partition(Model):
    """A queue. `nodes` names hosts, node ranges, pools, `onprem` or `aws`.

    One named like a queue that is there anyway (`gpu`, `onprem`, a pool's name) changes that one.
    """

    nodes: tuple[HostRange, ...] = Field(default=(), description="none named: the nodes the queue has anyway")
    default: bool = False
    max_time: TimeLimit = Field(default="7-00:00:00", description="a forgotten job ends within a week")
    settings: SlurmParameters = Field(
        default={}, description="keys of slurm.conf's PartitionName line; null deletes one"
    )


class AccountSettings(Model):
    """Slurm account. Its jobs read and write data of one class only."""

    users: tuple[UserName, ...] = ()
    data_class: Word
    parent: UserName | None = None
    fairshare: int = Field(default=1, ge=1, le=10_000)
    max_gpus: int | None = Field(default=None, ge=1, description="at one time; none: what the queues allow")
    qos: tuple[UserName, ...] = Field(
        default=(), description="which its jobs may ask for; the first is what they get unasked; none: normal"
    )
    description: Text | None = None


class Rest(Model):
    """Slurm over HTTP, for programs that bring a token. It listens on the first login host, and there alone."""

    port: Port = 6820
    memory_mib: int = Field(default=1536, ge=256, le=65_536, description="with more it is ended and started again")


class Overrides(Model):
    """Keys of Slurm's own files: a value replaces what Landbridge chose, null deletes the key."""

    slurm_conf: SlurmParameters = Field(default={})
    cgroup_conf: SlurmParameters = Field(default={})


class Scheduler(Model):
    """Slurm settings, one cluster for both sites."""

    slurm: SlurmSettings = SlurmSettings()
    auth: Literal["munge", "slurm"] = Field(default="munge", description="changing it later needs a drained cluster")
    cgroup: Literal["v1", "v2"] = Field(default="v2", description="v1 is deprecated since Slurm 25.05")
    partitions: Mapping[Word, Partition] = Field(default={}, description="besides gpu, onprem and one for each pool")
    accounts: Mapping[UserName, AccountSettings] = Field(default={}, description="a job without an account is refused")
    qos: Mapping[UserName, Qos] = Field(default={}, description="qualities of service besides Slurm's own, normal")
    rest: Rest | None = Field(default=None, description="slurmrestd; none: no REST API")
    overrides: Overrides = Overrides()
