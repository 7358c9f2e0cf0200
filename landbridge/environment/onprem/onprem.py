"""Environment key `onprem`: GPU nodes, service hosts and access of the operator."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, HostName, HostRange, Model, Port, Text, Url, Word
from landbridge.environment.onprem.adapters import NetworkPorts
from landbridge.environment.onprem.costs import Costs
from landbridge.environment.onprem.driver import Driver
from landbridge.environment.onprem.existing_slurm import ExistingSlurm
from landbridge.environment.onprem.gpu_tools import GpuTools
from landbridge.environment.onprem.health import HealthChange
from landbridge.environment.onprem.mig import MigPart
from landbridge.environment.onprem.restarts import NodeRestarts

#: Operating systems of GPU nodes, as in landbridge/catalog/published.yaml.
OperatingSystem = Literal["debian-12", "debian-13", "ubuntu-24.04", "dgx-os-7"]


class Hardware(Model):
    """Hardware of on-prem nodes that differs from their platform's catalogue entry."""

    sockets: int | None = Field(default=None, ge=1, le=16)
    cores_per_socket: int | None = Field(default=None, ge=1, le=512)
    threads_per_core: int | None = Field(default=None, ge=1, le=8)
    memory_mib: int | None = Field(default=None, ge=1024)
    reserved_cores: int | None = Field(
        default=None,
        ge=0,
        le=512,
        description="cores that are reserved for the system; none: one per socket with 32 cores or more",
    )
    reserved_memory_mib: int | None = Field(
        default=None,
        ge=0,
        description="memory that is reserved for the system; none: 1/64 of the memory, at most 16 GiB",
    )
    gpu_cores: int | None = Field(
        default=None,
        ge=0,
        le=512,
        description="cores per GPU that only jobs with a GPU may use, if the socket of each GPU is known; "
        "none: an equal share of the socket's cores; 0: jobs without a GPU may use all cores",
    )
    wiring: Word | None = Field(
        default=None,
        description="use of the platform's ports by the name of NVIDIA's reference architecture: basepod, superpod, "
        "spectrum-x; none: only the fabric ports on which all wirings of the platform agree",
    )
    adapters: tuple[NetworkPorts, ...] = Field(
        default=(), description="network ports as the site has wired them; empty: those of the wiring"
    )


class NodeGroup(Model):
    """Group of equal nodes with consecutive addresses: `address` is the first node's address."""

    hosts: HostRange
    platform: Text
    address: IPv4Address
    os: OperatingSystem = Field(
        default="debian-13",
        description="operating system of the hosts, which determines the available packages; dgx-os-7 is Ubuntu 24.04 "
        "with its own driver, DCGM and container toolkit, which are kept",
    )
    rack: Word = Field(default="rack1", description="nodes of one rack share a switch in Slurm's topology")
    features: tuple[Word, ...] = Field(default=(), description="additional Slurm features, for `sbatch --constraint`")
    local_scratch: AbsolutePath | None = Field(
        default=None,
        description="mount point of one file system on the nodes' unused NVMe drives, for jobs' temporary folders; "
        "none: not used",
    )
    mig: tuple[MigPart, ...] = Field(
        default=(), description="GPUs that are partitioned, for many small jobs; empty: no GPU is partitioned"
    )
    hardware: Hardware = Field(default=Hardware.with_defaults(), description="differences to the platform's data sheet")
    health: tuple[HealthChange, ...] = Field(
        default=(), description="changes of the health checks; empty: all checks, with the platform's limits"
    )


class SiteServices(Model):
    """Hosts by service. One host may run several services."""

    controller: Annotated[tuple[HostName, ...], Field(min_length=1, max_length=2)] = Field(
        default=("ctl01",), description="hosts of slurmctld and the burst controller; a second host is the backup"
    )
    database: HostName = Field(default="db01", description="MariaDB and slurmdbd")
    login: Annotated[tuple[HostName, ...], Field(min_length=1)] = Field(
        default=("login01",), description="hosts where users log in"
    )
    storage: HostName = Field(default="nfs01", description="NFS server of the home directories")
    gateway: HostName | tuple[HostName, HostName] = Field(
        default="gw01", description="this site's end of the link to AWS; a list of two hosts: two gateways"
    )
    mlops: HostName = Field(default="mlops01", description="MLflow and its database")
    object_store: HostName | None = Field(
        default=None, description="S3 object store, if storage.object_store is set; none: the storage host"
    )
    monitoring: HostName | None = Field(
        default=None, description="Prometheus and Alertmanager; none: no metrics are collected"
    )
    logs: HostName | None = Field(
        default=None, description="log store of the site's hosts; none: each host keeps its own log only"
    )

    def hosts(self) -> tuple[str, ...]:
        """Return the service hosts without duplicates, in the order of the fields."""
        named = [*self.controller, self.database, *self.login, self.storage, *self.gateways, self.mlops]
        optional = [host for host in (self.object_store, self.monitoring, self.logs) if host is not None]
        return tuple(dict.fromkeys([*named, *optional]))

    @property
    def gateways(self) -> tuple[str, ...]:
        """The hosts of the gateways."""
        return self.gateway if isinstance(self.gateway, tuple) else (self.gateway,)


class ControllerState(Model):
    """NFS export for slurmctld's state, on a server that Landbridge does not configure. Its subfolder with the
    environment's name must belong to uid 64030 (slurm).
    """

    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")] = Field(
        description="NFS server, by name or address; not a controller"
    )
    export: AbsolutePath
    options: Annotated[str, StringConstraints(pattern=r"^[a-z0-9=,_.:-]*$")] = "vers=4.2,hard,nosuid,nodev,noexec"


class Access(Model):
    """SSH access of the operator to the hosts."""

    user: Text = Field(default="ansible", description="login user; not root, because tasks use sudo")
    port: Port = 22
    private_key: Text | None = Field(default=None, description="file of the private key; none: the default keys of ssh")
    proxy_command: Text | None = Field(default=None, description="ssh's ProxyCommand, for hosts behind a jump host")
    known_hosts: Text | None = Field(
        default=None, description="known_hosts file; none: a file of the environment, filled at the first connection"
    )


class PackageSources(Model):
    """Package sources of hosts without internet access; without a value the distribution's own sources are used."""

    apt_proxy: Url | None = None
    python_find_links: Url | None = Field(default=None, description="folder of wheels, instead of a package index")


class OnPrem(Model):
    """On-prem site: nodes, hosts, addresses and access."""

    cidr: IPv4Network
    domain: Annotated[str, Field(pattern=r"^[a-z0-9.-]{1,200}$")] = Field(
        default="cluster.internal", description="DNS suffix"
    )
    nodes: tuple[NodeGroup, ...] = ()
    services: SiteServices = SiteServices.with_defaults()
    existing_slurm: ExistingSlurm | None = Field(
        default=None,
        description="Slurm that runs already and that others configure (`landbridge adopt`); none: Landbridge "
        "configures the whole site",
    )
    controller_state: ControllerState | None = Field(
        default=None,
        description="slurmctld's state folder; none: on the storage host for two controllers, else on the controller",
    )
    addresses: Mapping[HostName, IPv4Address] = Field(default={}, description="addresses of the service hosts")
    container_cidrs: Mapping[Word, IPv4Network] = Field(
        default={"docker": IPv4Network("172.17.0.0/16")},
        description="ranges that container engines and pods use on the nodes; they must not overlap the site",
    )
    access: Access = Access.with_defaults()
    aws_credentials: Literal["files", "host"] | None = Field(
        default=None,
        description="source of the services' AWS credentials. files: AWS credentials files in the operator's secrets "
        "folder; host: sources of the hosts themselves; none: IAM Roles Anywhere (aws.iam.anywhere)",
    )
    packages: PackageSources = PackageSources.with_defaults()
    driver: Driver = Field(default=Driver.with_defaults(), description="NVIDIA's driver on the GPU nodes")
    restarts: NodeRestarts = Field(
        default=NodeRestarts.with_defaults(), description="failure budget and waiting times of node restarts"
    )
    gpu_tools: GpuTools = Field(
        default=GpuTools.with_defaults(), description="GPU software besides the driver: DCGM, containers, RDMA"
    )
    max_drained_percent: int | None = Field(
        default=None,
        ge=1,
        le=100,
        description="failure budget: share of the nodes that health checks may drain at the same time, at least one "
        "node; none: the catalogue's (50)",
    )
    costs: Costs = Field(default_factory=Costs, description="inputs of the cost of the nodes, for `landbridge cost`")
