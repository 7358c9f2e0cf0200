"""Environment key `serving`: hosts of model servers, the model gateway, and the services."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.cloud_services import PublicKey
from landbridge.environment.aws.pool import ImageId
from landbridge.environment.base import HostName, Model, Port, Text, UserName, Word, Zone

#: At most 57 letters, digits and hyphens, as in SageMaker-managed MLflow.
ModelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9](-?[A-Za-z0-9]){0,56}$", max_length=57)]


class PredictionObjective(Model):
    """Objective of a service: latency, and requests per second that it must hold."""

    p95_ms: float = Field(
        default=100.0, gt=0, le=600_000, description="95th percentile of the latency, in milliseconds"
    )
    rate: float = Field(default=10.0, gt=0, le=1e6, description="requests per second")


class ModelCanary(Model):
    """Canaries of a service: the gateway follows the registry's aliases champion and staging, and decides by measurements."""

    weights: tuple[Annotated[int, Field(ge=1, le=99)], ...] = Field(
        default=(), description="percent of the requests by step, rising; empty: the catalogue's"
    )
    requests: int | None = Field(default=None, ge=1, le=1_000_000, description="minimum number of requests of a step")
    step_seconds: float | None = Field(default=None, gt=0, le=86_400, description="minimum duration of a step")
    disagreement: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="with shadow: share of copies with a different answer at which the candidate gets no client requests",
    )
    team: Word | None = Field(
        default=None, description="team of mlops.teams whose workspace in MLflow has the model; none: without teams"
    )


class ModelScale(Model):
    """Scale of a service: the gateway sets the number of its hosts by the load, from `least` to the service's `replicas`."""

    least: int = Field(
        default=1,
        ge=0,
        le=64,
        description="hosts that serve without load; 0: none, and the first request waits for a start",
    )
    host_rate: float = Field(
        gt=0,
        le=1e6,
        description="requests per second that one host can serve",
    )
    idle_minutes: float = Field(
        default=10.0, ge=2, le=1440, description="minutes of a smaller load after which hosts stop serving"
    )


class ModelService(Model):
    """Service: a model of the registry by its alias, served on hosts that train nothing."""

    model: ModelName
    alias: Literal["candidate", "staging", "champion"] = "champion"
    data_class: Word
    replicas: int = Field(default=1, ge=1, le=64, description="hosts that serve it, beginning with the first")
    port: Port = Field(description="port of its slot a on the hosts; its slot b, for another version, has the next one")
    accounts: Annotated[tuple[UserName, ...], Field(min_length=1)] = Field(
        description="accounts of scheduler.accounts that may call it; each has a token of its own"
    )
    objective: PredictionObjective = PredictionObjective.with_defaults()
    runtime: Literal["onnx", "triton", "vllm"] = Field(
        default="onnx", description="onnx: Landbridge's model server; triton, vllm: programs that the hosts have"
    )
    unsigned: bool = Field(
        default=False,
        description="triton, vllm: whether a folder without a valid signature is served; onnx serves signed models only",
    )
    threads: int = Field(default=1, ge=1, le=256, description="threads of one prediction")
    concurrency: int = Field(default=8, ge=1, le=1024, description="predictions at the same time on one host")
    memory_gib: int | None = Field(
        default=None,
        ge=1,
        le=16_384,
        description="memory of the host that one model server may use, page cache included; none: 4 GiB for onnx, no limit for triton and vllm",
    )
    max_request_kib: int = Field(default=128, ge=1, le=65_536, description="largest request")
    client_rate: int = Field(
        default=100, ge=0, le=1_000_000, description="requests per second of one account; 0: no limit"
    )
    canary: ModelCanary | None = Field(
        default=None,
        description="versions are installed from the registry automatically, and a new one gets traffic in steps; absent: an operator installs them",
    )
    scale: ModelScale | None = Field(
        default=None, description="number of hosts by load; absent: all of its hosts serve; requires canary"
    )
    shadow: bool = Field(
        default=False,
        description="whether the other slot gets a copy of each request, whose answer is compared; a canary begins with it",
    )
    shadow_tolerance: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="relative difference up to which numbers agree; 0: rows agree if their largest value is at the same index, the class",
    )


class CloudModelServers(Model):
    """Hosts of model servers in AWS, which the gateway starts and stops: instances at planned addresses, without rights in AWS."""

    zones: Annotated[Mapping[Zone, Annotated[int, Field(ge=1, le=14)]], Field(min_length=1)] = Field(
        description="number of hosts by zone; they are serve-az4-01 and so on, and serve after the hosts of the site"
    )
    instance: Text = Field(default="m7i.large", description="instance type")
    root_volume_gib: int = Field(
        default=30,
        ge=8,
        le=16_384,
        description="encrypted gp3; what a stopped instance costs, and where its models stay",
    )
    image: ImageId | None = Field(
        default=None,
        description="ami-…, or a name of aws.images; none: the Debian 13 image of the image lock (`landbridge lock`)",
    )
    public_keys: Annotated[tuple[PublicKey, ...], Field(min_length=1)] = Field(
        description="public SSH keys that may log in as the user of onprem.access, for `landbridge configure`"
    )


class Serving(Model):
    """Model servers and their gateway, apart from training."""

    hosts: Annotated[tuple[HostName, ...], Field(min_length=1)] = Field(
        description="hosts of model servers, with addresses in onprem.addresses; they run nothing else"
    )
    gateway: HostName | tuple[HostName, HostName] = Field(
        description="host of the model gateway (HAProxy), the only client of the model servers; or a list of two hosts"
    )
    name: HostName | None = Field(
        default=None,
        description="name of the model gateway for clients, with two hosts: its address in onprem.addresses is free, and "
        "one of the two has it (VRRP); none: the gateway's host",
    )
    port: Port = Field(default=8443, description="port of the model gateway, with TLS")
    clients: tuple[IPv4Network, ...] = Field(
        default=(), description="networks of the clients of the model gateway; empty: the site's"
    )
    aws: CloudModelServers | None = Field(
        default=None, description="further hosts of model servers, in AWS; absent: models are served at the site only"
    )
    services: Annotated[Mapping[Word, ModelService], Field(min_length=1)]

    @property
    def gateways(self) -> tuple[str, ...]:
        """The hosts of the model gateway, each once."""
        return tuple(dict.fromkeys(self.gateway)) if isinstance(self.gateway, tuple) else (self.gateway,)

    @property
    def gateway_name(self) -> str:
        """The name of the model gateway in URLs of clients."""
        return self.name or self.gateways[0]
