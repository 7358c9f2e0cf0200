"""The organisation's own site: its GPU nodes, the hosts that serve them, and how the operator reaches them."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, HostName, HostRange, Model, Port, Text, Url, Word
from landbridge.environment.onprem.driver import Driver
from landbridge.environment.onprem.gpu_tools import GpuTools
from landbridge.environment.onprem.mig import MigPart


class Hardware(Model):
    """Hardware of a site's machines that differs from their platform's catalogue entry."""

    sockets: int | None = Field(default=None, ge=1, le=16)
    cores_per_socket: int | None = Field(default=None, ge=1, le=512)
    threads_per_core: int | None = Field(default=None, ge=1, le=8)
    memory_mib: int | None = Field(default=None, ge=1024)
    reserved_cores: int | None = Field(
        default=None, ge=0, le=512, description="cores that no job gets; none: one of each socket of 32 cores and more"
    )
    reserved_memory_mib: int | None = Field(
        default=None, ge=0, description="memory that no job gets; none: a 64th, 16 GiB at most"
    )
    gpu_cores: int | None = Field(
        default=None,
        ge=0,
        le=512,
        description="cores beside each GPU that only jobs with a GPU get, where it is known on which socket each GPU is; "
        "none: the GPU's share, 0: jobs without one may take them all",
    )


class NodeGroup(Model):
    """Equal machines in a row: `address` is the first one's, the others count up from it."""

    hosts: HostRange
    platform: Text
    address: IPv4Address
    rack: Word = Field(default="rack1", description="nodes of one rack share a switch in Slurm's topology")
    features: tuple[Word, ...] = Field(default=(), description="more words for `sbatch --constraint`")
    local_scratch: AbsolutePath | None = Field(
        default=None,
        description="where the nodes' unused NVMe is mounted as one, for jobs' own folders; none: it is left alone",
    )
    mig: tuple[MigPart, ...] = Field(
        default=(), description="GPUs that are partitioned, for many small jobs; none: all are whole"
    )
    hardware: Hardware = Field(default=Hardware(), description="empty: as the platform's data sheet says")


class SiteServices(Model):
    """Hosts by service. One host may run several services."""

    controller: Annotated[tuple[HostName, ...], Field(min_length=1, max_length=2)] = Field(
        default=("ctl01",), description="slurmctld and the burst controller; a second one takes over"
    )
    database: HostName = Field(default="db01", description="MariaDB and slurmdbd")
    login: Annotated[tuple[HostName, ...], Field(min_length=1)] = Field(
        default=("login01",), description="where users log in"
    )
    storage: HostName = Field(default="nfs01", description="exports home directories")
    gateway: HostName = Field(default="gw01", description="this site's end of the link to AWS")
    mlops: HostName = Field(default="mlops01", description="MLflow and its database")

    def hosts(self) -> tuple[str, ...]:
        """Every service host once, in the order above."""
        named = [*self.controller, self.database, *self.login, self.storage, self.gateway, self.mlops]
        return tuple(dict.fromkeys(named))


class ControllerState(Model):
    """A folder of a filer that Landbridge does not configure, for Slurm's queue. In it, one named after the environment
    belongs to the number 64030 (slurm)."""

    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")] = Field(
        description="who exports it, by name or address; not a controller"
    )
    export: AbsolutePath
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "vers=4.2,hard,nosuid,nodev,noexec"


class Access(Model):
    """SSH access of the operator to the hosts."""

    user: Text = Field(default="ansible", description="not root: privileges are asked for with sudo")
    port: Port = 22
    private_key: Text | None = Field(default=None, description="none: the keys that ssh would try by itself")
    proxy_command: Text | None = Field(default=None, description="ssh's ProxyCommand, for hosts behind something")
    known_hosts: Text | None = Field(
        default=None, description="none: the environment's own file, filled at first contact"
    )


class PackageSources(Model):
    """Package sources of hosts without internet access; without a value the distribution's own sources are used."""

    apt_proxy: Url | None = None
    python_find_links: Url | None = Field(default=None, description="a folder of wheels, instead of an index")


class OnPrem(Model):
    """On-prem site: nodes, hosts, addresses and access."""

    cidr: IPv4Network
    domain: Annotated[str, Field(pattern=r"^[a-z0-9.-]{1,200}$")] = Field(
        default="cluster.internal", description="DNS suffix"
    )
    nodes: tuple[NodeGroup, ...] = ()
    services: SiteServices = SiteServices()
    controller_state: ControllerState | None = Field(
        default=None,
        description="where Slurm's queue is kept; none: a pair's on the storage host, one controller's on its own disk",
    )
    addresses: Mapping[HostName, IPv4Address] = Field(default={}, description="of the service hosts")
    container_cidrs: Mapping[Word, IPv4Network] = Field(
        default={"docker": IPv4Network("172.17.0.0/16")},
        description="ranges that container engines and pods use on the nodes; a site that overlaps them is unreachable",
    )
    access: Access = Access()
    packages: PackageSources = PackageSources()
    driver: Driver = Field(default=Driver(), description="NVIDIA's driver on the GPU nodes")
    gpu_tools: GpuTools = Field(default=GpuTools(), description="what is beside the driver: DCGM, containers, RDMA")
