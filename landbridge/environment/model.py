"""Environment: one frozen object with all settings of an organisation's cluster."""

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
from landbridge.environment.observability import Observability
from landbridge.environment.onprem.containers import Containers
from landbridge.environment.onprem.existing_slurm import ExistingSlurm
from landbridge.environment.onprem.hosts import Hosts
from landbridge.environment.onprem.onprem import NodeGroup, OnPrem
from landbridge.environment.pipelines import Pipelines
from landbridge.environment.placement import PlacementPolicy
from landbridge.environment.secrets import SecretsSettings
from landbridge.environment.serving import Serving
from landbridge.environment.slurm.bursting import Burst
from landbridge.environment.slurm.scheduler import Scheduler
from landbridge.environment.stacks import Stacks
from landbridge.environment.state import StateSettings
from landbridge.environment.storage import Storage
from landbridge.environment.teams import Team
from landbridge.hostlist import expand

Regime = Literal["hipaa", "fedramp_moderate", "fedramp_high", "itar", "gdpr", "pci_dss", "classified"]


class DataClass(Model):
    """Data class: the sites and regions where its data may be, and the compliance regime."""

    sites: Annotated[tuple[Site, ...], Field(min_length=1)]
    regions: tuple[Region, ...] = Field(
        default=(),
        description="regions of aws.other_regions where its jobs may run too; empty: only the environment's own region",
    )
    regime: Regime | None = None
    jobs_may_delete: bool = Field(
        default=False, description="whether jobs of its accounts may delete objects of its bucket in AWS"
    )


class User(Model):
    """User account with the same uid on every host of both sites."""

    name: UserName
    uid: Annotated[int, Field(ge=1000, le=2_000_000_000)]


class MLflow(Model):
    """MLflow tracking servers, one for each data class of an account; artifacts are where the class may be."""

    port: Port = Field(default=5000, description="port of the first server")
    tls: bool = Field(
        default=True,
        description="whether clients use TLS with a certificate of the site's CA; without it passwords are in clear text",
    )
    data_class: Word | None = Field(
        default=None,
        description="data class of the first server; none: the first class that is permitted on both sites",
    )
    ports: Mapping[Word, Port] = Field(
        default={},
        description="ports of the other classes' servers by class; default: port + 10 + the class's position in data_classes",
    )
    allowed_hosts: tuple[Text, ...] = Field(
        default=(), description="more values of the HTTP Host header that it accepts, besides its name and address"
    )


class Registry(Model):
    """Container registry on the MLflow host."""

    port: Port = 5001
    data_class: Word | None = None


class MLOps(Model):
    """MLflow tracking, an optional container registry, SageMaker, and pipelines."""

    mlflow: MLflow = MLflow.with_defaults()
    teams: Mapping[Word, Team] = Field(
        default={},
        description="teams, each with a workspace of its own in MLflow; empty: the users of a data class share one",
    )
    registry: Registry | None = None
    sagemaker: SageMakerSettings | None = Field(default=None, description="SageMaker training jobs and model registry")
    revoked_signers: tuple[Annotated[str, StringConstraints(pattern=r"^[1-9a-f][0-9a-f]{0,39}$")], ...] = Field(
        default=(),
        description="serial numbers of model signers whose models are refused, as `landbridge model verify` prints them",
    )
    pipelines: Pipelines | None = Field(default=None, description="service of pipelines; none: no pipeline runs")


class Window(Model):
    """Planned outage."""

    starts: datetime
    ends: datetime
    sites: Annotated[tuple[Site, ...], Field(min_length=1)] = SITES
    why: Text | None = None


class Suppression(Model):
    """Accepted finding, with the reason."""

    rule: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    reason: Annotated[str, StringConstraints(min_length=10, max_length=500)] = Field(
        description="reason why the finding is accepted, for later readers of this file"
    )
    path: Text | None = Field(
        default=None, description="path of the finding, such as aws.pools[0].instance; none: every path"
    )


EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,23}$")]


class Environment(Model):
    """Environment. `name` and `region` come from the file's name and its `aws:region`."""

    name: EnvironmentName
    region: Text
    owner: Text
    cost_center: Text = Field(default="none", description="value of the cost-center tag on every billed resource")
    stacks: Stacks = Field(
        default="one",
        description="three: separate stacks for foundation, cluster and platform, so that a change affects less",
    )
    state: StateSettings | None = Field(
        default=None, description="backend of Pulumi's state; none: local, or PULUMI_BACKEND_URL if it is set"
    )
    secrets: SecretsSettings = Field(
        default=SecretsSettings.with_defaults(),
        description="store of the site's secrets, the same for every operator or a folder of one",
    )
    data_classes: Annotated[Mapping[Word, DataClass], Field(min_length=1)] = Field(
        default={"internal": DataClass(sites=("onprem", "aws"))},
        description="data classes by name; data without a class is not permitted on any site",
    )
    users: tuple[User, ...] = Field(default=(), description="user accounts that are not in an LDAP directory")
    onprem: OnPrem | None = Field(
        default=None, description="on-prem site; none: the services are in AWS, see aws.services"
    )
    aws: Aws
    link: Link | None = Field(default=None, description="connection to the site; none only without a site")
    dns: DnsSettings | None = Field(
        default=None, description="DNS across the link; none: hosts resolve one another only by their hosts files"
    )
    hosts: Hosts = Field(default=Hosts.with_defaults(), description="operating system settings of every host")
    storage: Storage = Storage.with_defaults()
    scheduler: Scheduler = Scheduler.with_defaults()
    burst: Burst = Field(
        default=Burst.with_defaults(), description="conditions for starting jobs in AWS, and the handling of failures"
    )
    placement: PlacementPolicy = Field(
        default=PlacementPolicy.with_defaults(),
        description="placement of jobs: workload classes, data sets and the price of waiting",
    )
    containers: Containers = Field(
        default=Containers.with_defaults(), description="container engine and images of jobs"
    )
    budget: Budget = Budget.with_defaults()
    mlops: MLOps = MLOps.with_defaults()
    serving: Serving | None = Field(default=None, description="models that are served at the site; none: no model is")
    observability: Observability = Field(
        default=Observability.with_defaults(),
        description="metrics, alerts and logs of the site; used with onprem.services.monitoring and onprem.services.logs",
    )
    maintenance: tuple[Window, ...] = Field(
        default=(), description="planned outages; none may overlap a Capacity Block"
    )
    suppress: tuple[Suppression, ...] = Field(default=(), description="accepted findings, each with its reason")

    @property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """Return the groups of on-prem nodes; empty without a site."""
        return self.onprem.nodes if self.onprem is not None else ()

    @property
    def existing_slurm(self) -> ExistingSlurm | None:
        """Return the site's Slurm if it runs already and others configure it."""
        return self.onprem.existing_slurm if self.onprem is not None else None

    def host_addresses(self) -> dict[HostName, str]:
        """Return the address of each on-prem host, GPU nodes included, in the file's order."""
        named = self.onprem.addresses if self.onprem is not None else {}
        addresses = {host: str(address) for host, address in named.items()}
        for group in self.node_groups:
            for offset, host in enumerate(expand(group.hosts)):
                addresses[host] = str(group.address + offset)
        return addresses
