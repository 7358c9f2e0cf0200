"""Environment key `scheduler`: Slurm's version, partitions, accounts, QOS and overrides."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import HostRange, Model, Port, SlurmParameters, Text, Url, UserName, Word
from landbridge.environment.slurm.idle_gpus import IdleGpus
from landbridge.environment.slurm.qos import Qos, TimeLimit

SlurmVersion = Literal["23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]


class SlurmSettings(Model):
    """Slurm version and the source of its packages."""

    version: SlurmVersion = Field(default="26.05", description="26.05 is current; 24.11 is the version in Debian 13")
    release: Annotated[str, StringConstraints(pattern=r"^(newest|\d\d\.\d\d\.\d+)$")] | None = Field(
        default=None,
        description="release that every host gets and holds, such as 26.05.5; none: the version's release in the "
        "catalogue; newest: the newest one when a host is installed",
    )
    packages_release: Word | None = Field(
        default=None,
        description="apt suite of the packages; none: the Debian release that contains the version, or the suite of "
        "each host's operating system with packaging: schedmd",
    )
    packages_mirror: Url | None = Field(
        default="http://deb.debian.org/debian",
        description="mirror of that release, only for Slurm's packages; none: the hosts' package sources contain it",
    )
    packaging: Literal["debian", "schedmd"] = Field(
        default="debian",
        description="debian: Debian's packages; schedmd: SchedMD's (slurm-smd), built by `landbridge packages slurm`",
    )
    packages_key: Annotated[str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)] | None = (
        Field(default=None, description="public key that signs that release; none: Debian's keys")
    )


class Partition(Model):
    """Slurm partition. `nodes` lists hosts, node ranges, pools, `onprem` or `aws`.

    A partition with the name of a default one (`gpu`, `onprem`, a pool's name) changes that one.
    """

    nodes: tuple[HostRange, ...] = Field(
        default=(), description="empty: the nodes of the default partition of this name"
    )
    default: bool = False
    max_time: TimeLimit = Field(default="7-00:00:00", description="maximum time of a job")
    settings: SlurmParameters = Field(
        default={}, description="keys of the PartitionName line in slurm.conf; null deletes a key"
    )


class AccountSettings(Model):
    """Slurm account. Its jobs use data of one data class only."""

    users: tuple[UserName, ...] = ()
    data_class: Word
    parent: UserName | None = None
    fairshare: int = Field(default=1, ge=1, le=10_000)
    max_gpus: int | None = Field(
        default=None, ge=1, description="GPUs of all running jobs together; none: no limit besides the partitions'"
    )
    qos: tuple[UserName, ...] = Field(
        default=(), description="QOS that its jobs may request; the first is the default; empty: normal"
    )
    description: Text | None = None


class Rest(Model):
    """Slurm REST API (slurmrestd) with token authentication. It listens on the first login host only."""

    port: Port = 6820
    memory_mib: int = Field(
        default=1536, ge=256, le=65_536, description="memory limit in MiB; slurmrestd is restarted above it"
    )


class Overrides(Model):
    """Keys of Slurm's configuration files: a value replaces Landbridge's, null deletes the key."""

    slurm_conf: SlurmParameters = Field(default={})
    cgroup_conf: SlurmParameters = Field(default={})


class Scheduler(Model):
    """Slurm settings; both sites are one Slurm cluster."""

    slurm: SlurmSettings = SlurmSettings.with_defaults()
    auth: Literal["munge", "slurm"] = Field(default="munge", description="a later change requires a drained cluster")
    cgroup: Literal["v1", "v2"] = Field(default="v2", description="v1 is deprecated since Slurm 25.05")
    partitions: Mapping[Word, Partition] = Field(
        default={}, description="partitions, besides gpu, onprem and one for each pool"
    )
    accounts: Mapping[UserName, AccountSettings] = Field(
        default={}, description="Slurm accounts; Slurm rejects a job without an account"
    )
    qos: Mapping[UserName, Qos] = Field(default={}, description="QOS, besides Slurm's default QOS normal")
    rest: Rest | None = Field(default=None, description="slurmrestd; none: no REST API")
    idle_gpus: IdleGpus = IdleGpus.with_defaults()
    overrides: Overrides = Overrides.with_defaults()
