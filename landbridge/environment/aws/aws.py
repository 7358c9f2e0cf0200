"""Environment key `aws`: one VPC and its pools of GPU instances."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.cloud_services import CloudServices
from landbridge.environment.aws.guardrails import GuardrailsSettings
from landbridge.environment.aws.iam import Egress, IamSettings, Ingress
from landbridge.environment.aws.images import ImageSource, KeyArn, NodeChecks
from landbridge.environment.aws.network import EndpointPolicy, ExistingVpc, Logs
from landbridge.environment.aws.other_regions import OtherRegion
from landbridge.environment.aws.pool import NicPolicy, PoolSettings
from landbridge.environment.base import Model, Region, Text, Url, Word, Zone

QuotaCode = Annotated[str, StringConstraints(pattern=r"^L-[0-9A-F]{8}$")]

__all__ = ["Aws", "Endpoints", "NicPolicy", "PoolSettings"]


class Endpoints(Model):
    """AWS endpoints for the operator, the site and the nodes in AWS: a proxy, private endpoints, or an emulated AWS."""

    operator: Url | None = None
    onprem: Url | None = None
    cloud: Url | None = None

    @property
    def are_public(self) -> bool:
        """Return true if the operator uses AWS's own endpoints: then public AWS prices and risks apply."""
        return self.operator is None


class Aws(Model):
    """AWS resources of an environment: network, pools, images, services and guardrails."""

    cidr: IPv4Network
    secondary_cidrs: tuple[IPv4Network, ...] = Field(
        default=(), description="secondary CIDR blocks of the VPC, for pods and growth"
    )
    vpc: ExistingVpc | None = Field(default=None, description="an existing VPC; none: Landbridge creates one")
    subnets: Mapping[Zone, IPv4Network] = Field(
        default={}, description="CIDR block of the nodes' subnet, by zone; empty: an eighth of cidr for each zone"
    )
    nat: Literal["none", "single", "per_zone"] = Field(
        default="none", description="NAT gateways; S3 needs none, and AWS bills traffic through them"
    )
    vpc_endpoints: Literal["derived", "gateway"] | None = Field(
        default=None,
        description="derived: for every service that this environment uses; gateway: S3 only, free; "
        "none: derived if nat is none",
    )
    endpoint_policy: EndpointPolicy = EndpointPolicy.with_defaults()
    account: Annotated[str, StringConstraints(pattern=r"^\d{12}$")] | None = Field(
        default=None, description="the only AWS account that `landbridge up` may touch"
    )
    endpoints: Endpoints = Endpoints.with_defaults()
    pools: tuple[PoolSettings, ...] = ()
    other_regions: Mapping[Region, OtherRegion] = Field(
        default={}, description="regions where pools may launch nodes when the environment's own region has no capacity"
    )
    images: Mapping[Word, ImageSource] = Field(default={}, description="node images by name, for pools")
    disk_keys: tuple[KeyArn, ...] = Field(
        default=(),
        description="your own KMS keys of disks that the launching roles may use, besides kms_keys of images: the account's default key for EBS in each region, and the keys of your own AMIs",
    )
    node_checks: NodeChecks = NodeChecks.with_defaults()
    services: CloudServices | None = Field(
        default=None,
        description="controller, login and database hosts in AWS, for an environment without an on-prem site",
    )
    ingress: tuple[Ingress, ...] = Field(
        default=(), description="further sources that may reach the nodes; empty: only the on-prem site"
    )
    egress: tuple[Egress, ...] = Field(
        default=(),
        description="further destinations of the nodes; empty: the cluster's services on their ports, and HTTPS anywhere",
    )
    iam: IamSettings = IamSettings.with_defaults()
    guardrails: GuardrailsSettings = GuardrailsSettings.with_defaults()
    logs: Logs = Logs.with_defaults()
    quotas: Mapping[QuotaCode, int] = Field(
        default={},
        description="last known quotas of the account by quota code; empty: only `landbridge preflight` checks them",
    )
    protect: bool = Field(
        default=True, description="`landbridge destroy` keeps buckets, keys and secrets; false: it deletes them too"
    )
    lease_minutes: int = Field(
        default=30,
        ge=5,
        le=1440,
        description="lease of a node in minutes; an instance whose lease is not renewed terminates itself",
    )
    tags: Mapping[Text, Text] = Field(default={}, description="tags on every resource, in addition to Landbridge's own")
