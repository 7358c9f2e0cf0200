"""The AWS half: one VPC and the pools of GPU instances that come and go in it."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.cloud_services import CloudServices
from landbridge.environment.aws.guardrails import GuardrailsSettings
from landbridge.environment.aws.iam import IamSettings, Ingress
from landbridge.environment.aws.images import ImageSource
from landbridge.environment.aws.network import ExistingVpc, Kubernetes, Logs
from landbridge.environment.aws.other_regions import OtherRegion
from landbridge.environment.aws.pool import NicPolicy, PoolSettings
from landbridge.environment.base import Model, Region, Text, Url, Word, Zone

QuotaCode = Annotated[str, StringConstraints(pattern=r"^L-[0-9A-F]{8}$")]

__all__ = ["Aws", "Endpoints", "NicPolicy", "PoolSettings"]


class Endpoints(Model):
    """Endpoints other than AWS's own, as each place reaches them: a proxy, private endpoints, or an emulated AWS."""

    operator: Url | None = None
    onprem: Url | None = None
    cloud: Url | None = None

    @property
    def are_public(self) -> bool:
        """Return true where the operator uses AWS's own endpoints: prices and dangers of the public AWS hold."""
        return self.operator is None


class Aws(Model):
    """AWS resources of an environment: network, pools, images, services and guardrails."""

    cidr: IPv4Network
    secondary_cidrs: tuple[IPv4Network, ...] = Field(
        default=(), description="more ranges of the VPC, for pods and growth"
    )
    vpc: ExistingVpc | None = Field(default=None, description="none: Landbridge makes one")
    subnets: Mapping[Zone, IPv4Network] = Field(
        default={}, description="of the nodes, by zone; none named: an eighth of cidr for each zone"
    )
    nat: Literal["none", "single", "per_zone"] = Field(
        default="none", description="S3 needs none, and traffic through it costs"
    )
    vpc_endpoints: Literal["derived", "gateway"] | None = Field(
        default=None,
        description="derived: every service that this environment uses; gateway: S3 alone, free; none: derived where nat is none",
    )
    account: Annotated[str, StringConstraints(pattern=r"^\d{12}$")] | None = Field(
        default=None, description="the only AWS account that `landbridge up` may touch"
    )
    endpoints: Endpoints = Endpoints()
    pools: tuple[PoolSettings, ...] = ()
    other_regions: Mapping[Region, OtherRegion] = Field(
        default={}, description="where pools may start nodes when their own region has none, by region"
    )
    images: Mapping[Word, ImageSource] = Field(default={}, description="images by name, for pools")
    services: CloudServices | None = Field(
        default=None, description="controller, login and database in AWS, for an environment without a site of its own"
    )
    ingress: tuple[Ingress, ...] = Field(default=(), description="none: only the on-prem site reaches the nodes")
    iam: IamSettings = IamSettings()
    guardrails: GuardrailsSettings = GuardrailsSettings()
    kubernetes: Kubernetes | None = None
    logs: Logs = Logs()
    quotas: Mapping[QuotaCode, int] = Field(
        default={}, description="of the account, as last seen; none: only `landbridge preflight` knows"
    )
    protect: bool = Field(
        default=True, description="buckets, keys and secrets outlive `landbridge destroy`; false: it leaves nothing"
    )
    lease_minutes: int = Field(
        default=30, ge=5, le=1440, description="an instance whose lease is not renewed terminates itself"
    )
    tags: Mapping[Text, Text] = Field(default={}, description="on everything, besides Landbridge's own")
