"""Slurm: its version, its queues, who may use them, and anything a site wants otherwise."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import HostRange, Model, Scalar, Text, UserName, Word

SlurmKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
SlurmSettings = Mapping[SlurmKey, Scalar | None]
SlurmVersion = Literal["24.11", "25.05", "25.11", "26.05"]
TimeLimit = Annotated[str, StringConstraints(pattern=r"^(\d+|\d+-\d+|(\d+-)?\d+:\d\d(:\d\d)?|INFINITE|UNLIMITED)$")]


class Slurm(Model):
    """Which Slurm, and where its packages come from."""

    version: SlurmVersion = Field(default="26.05", description="current; 24.11 is what Debian 13 carries itself")
    packages_release: Word | None = Field(
        default=None, description="Debian release to take it from; none: where the version is"
    )


class Partition(Model):
    """A queue. `nodes` names hosts, node ranges, pools, `onprem` or `aws`.

    One named like a queue that is there anyway (`gpu`, `onprem`, a pool's name) changes that one.
    """

    nodes: tuple[HostRange, ...] = Field(default=(), description="none named: the nodes the queue has anyway")
    default: bool = False
    max_time: TimeLimit = Field(default="7-00:00:00", description="a forgotten job ends within a week")
    settings: SlurmSettings = Field(default={}, description="keys of slurm.conf's PartitionName line; null deletes one")


class Account(Model):
    """Who pays and whose rules apply. Its jobs touch data of one class only."""

    users: tuple[UserName, ...] = ()
    data_class: Word
    parent: UserName | None = None
    fairshare: int = Field(default=1, ge=1, le=10_000)
    max_gpus: int | None = Field(default=None, ge=1, description="at one time; none: what the queues allow")
    description: Text | None = None


class Overrides(Model):
    """Keys of Slurm's own files: a value replaces what Landbridge chose, null deletes the key."""

    slurm_conf: SlurmSettings = Field(default={})
    cgroup_conf: SlurmSettings = Field(default={})


class Scheduler(Model):
    """One Slurm for both sites."""

    slurm: Slurm = Slurm()
    auth: Literal["munge", "slurm"] = Field(default="munge", description="changing it later needs a drained cluster")
    cgroup: Literal["v1", "v2"] = Field(default="v2", description="v1 is deprecated since Slurm 25.05")
    partitions: Mapping[Word, Partition] = Field(default={}, description="besides gpu, onprem and one for each pool")
    accounts: Mapping[UserName, Account] = Field(default={}, description="a job without an account is refused")
    overrides: Overrides = Overrides()
