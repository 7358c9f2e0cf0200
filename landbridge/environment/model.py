"""The environment: one frozen object that says what an organisation has and wants."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.aws import Aws
from landbridge.environment.aws.guardrails import Budget
from landbridge.environment.aws.sagemaker import SageMakerSettings
from landbridge.environment.base import SITES, HostName, Model, Port, Region, Site, Text, UserName, Word
from landbridge.environment.dns import DnsSettings
from landbridge.environment.link import Link
from landbridge.environment.onprem.containers import Containers
from landbridge.environment.onprem.hosts import Hosts
from landbridge.environment.onprem.onprem import NodeGroup, OnPrem
from landbridge.environment.slurm.bursting import Burst
from landbridge.environment.slurm.scheduler import Scheduler
from landbridge.environment.stacks import Stacks
from landbridge.environment.storage import Storage
from landbridge.hostlist import expand

Regime = Literal["hipaa", "fedramp_moderate", "fedramp_high", "itar", "gdpr", "pci_dss", "classified"]


class DataClass(Model):
    """Data class: the sites and regions where its data may be, and the regime that demands it."""

    sites: Annotated[tuple[Site, ...], Field(min_length=1)]
    regions: tuple[Region, ...] = Field(
        default=(), description="of aws.other_regions, where its jobs may run too; none: only in the environment's own"
    )
    regime: Regime | None = None


class User(Model):
    """A person with the same uid on every node of both sites."""

    name: UserName
    uid: Annotated[int, Field(ge=1000, le=2_000_000_000)]


class MLflow(Model):
    """The tracking server; artifacts go through it into the hub."""

    port: Port = 5000
    data_class: Word | None = Field(
        default=None, description="of its artifacts; none: the first class that both sites may hold"
    )
    allowed_hosts: tuple[Text, ...] = Field(
        default=(), description="more names it answers to, besides its own and its address"
    )


class Registry(Model):
    """A container registry on the mlops host."""

    port: Port = 5001
    data_class: Word | None = None


class MLOps(Model):
    """Tracking, and a registry where one is wanted."""

    mlflow: MLflow = MLflow()
    registry: Registry | None = None
    sagemaker: SageMakerSettings | None = Field(
        default=None, description="training jobs and a model registry of AWS's own"
    )


class SecretRef(Model):
    """The value of a `secure:` key of the same file, set with `pulumi config set --secret`."""

    config: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*:[A-Za-z][A-Za-z0-9_-]*$")]


class Secrets(Model):
    """Secrets to take from this file. What is not named is generated once on the operator's machine."""

    slurm_key: SecretRef | None = None
    slurm_jwt_key: SecretRef | None = None
    database_password: SecretRef | None = None
    mlflow_admin_password: SecretRef | None = None
    mlflow_database_password: SecretRef | None = None


class Window(Model):
    """A planned outage."""

    starts: datetime
    ends: datetime
    sites: Annotated[tuple[Site, ...], Field(min_length=1)] = SITES
    why: Text | None = None


class Suppression(Model):
    """Accepted finding, with the reason."""

    rule: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    reason: Annotated[str, StringConstraints(min_length=10, max_length=500)] = Field(
        description="for a reader of this file in a year"
    )
    path: Text | None = Field(default=None, description="as aws.pools[0].instance; none: wherever the rule finds it")


EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,23}$")]


class Environment(Model):
    """A whole environment. `name` and `region` come from the file's name and its `aws:region`."""

    name: EnvironmentName
    region: Text
    owner: Text
    cost_center: Text = Field(default="none", description="a tag on everything that costs money")
    stacks: Stacks = Field(
        default="one", description="three: foundation, cluster and platform apart, so that a change can break less"
    )
    data_classes: Annotated[Mapping[Word, DataClass], Field(min_length=1)] = Field(
        default={"internal": DataClass(sites=("onprem", "aws"))}, description="data without a class goes to no site"
    )
    users: tuple[User, ...] = Field(default=(), description="user accounts that are in no directory")
    onprem: OnPrem | None = Field(default=None, description="none: the services are in AWS, as aws.services says")
    aws: Aws
    link: Link | None = Field(default=None, description="to the site; none where there is no site")
    dns: DnsSettings | None = Field(
        default=None, description="names both ways; none: hosts know one another by their hosts files alone"
    )
    hosts: Hosts = Field(default=Hosts(), description="what every host's operating system is given")
    storage: Storage = Storage()
    scheduler: Scheduler = Scheduler()
    burst: Burst = Field(default=Burst(), description="when jobs may start in AWS, and what becomes of failures")
    containers: Containers = Field(default=Containers(), description="how jobs run in containers")
    budget: Budget = Budget()
    mlops: MLOps = MLOps()
    secrets: Secrets = Secrets()
    maintenance: tuple[Window, ...] = Field(
        default=(), description="planned outages; no Capacity Block is to be lost to one"
    )
    suppress: tuple[Suppression, ...] = Field(
        default=(), description="findings that are accepted, each with its reason"
    )

    @property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """The on-prem nodes; none where there is no site."""
        return self.onprem.nodes if self.onprem is not None else ()

    def host_addresses(self) -> dict[HostName, str]:
        """Addresses of every named on-prem host, GPU nodes included, in the file's order."""
        named = self.onprem.addresses if self.onprem is not None else {}
        addresses = {host: str(address) for host, address in named.items()}
        for group in self.node_groups:
            for offset, host in enumerate(expand(group.hosts)):
                addresses[host] = str(group.address + offset)
        return addresses
