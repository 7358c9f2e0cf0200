"""Environment keys of an existing VPC, of CloudWatch Logs and of EKS."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Word, Zone

SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")]
RouteTableId = Annotated[str, StringConstraints(pattern=r"^rtb-[0-9a-f]{8,17}$")]
VpcId = Annotated[str, StringConstraints(pattern=r"^vpc-[0-9a-f]{8,17}$")]


class ExistingSubnet(Model):
    """Existing subnet."""

    id: SubnetId
    cidr: IPv4Network
    public: bool = Field(default=False, description="its route table has a route to an internet gateway")
    route_table: RouteTableId | None = Field(
        default=None,
        description="route table to which the route to the site is added; none: the owner of the VPC adds it",
    )


class ExistingVpc(Model):
    """Existing VPC; `aws.cidr` is its CIDR block. Landbridge adds resources to it and changes no existing one."""

    id: VpcId
    subnets: Annotated[Mapping[Zone, ExistingSubnet], Field(min_length=1)]
    dns_support: bool = Field(
        default=True, description="enableDnsSupport and enableDnsHostnames are set; VPC endpoints require both"
    )


class EndpointPolicy(Model):
    """Policies of the VPC endpoints: requests pass between this account's principals and its own resources."""

    accounts: tuple[Annotated[str, StringConstraints(pattern=r"^\d{12}$")], ...] = Field(
        default=(),
        description="further AWS accounts whose principals and resources are permitted, such as those of on-prem hosts whose "
        "queries the site forwards to the endpoints",
    )
    readable_buckets: tuple[Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")], ...] = (
        Field(
            default=(),
            description="buckets of other accounts that jobs may read, such as public data sets of the region",
        )
    )


class Logs(Model):
    """Retention of log groups in CloudWatch Logs."""

    retention_days: int = Field(
        default=180, ge=1, description="retention in days; one of the values that CloudWatch Logs permits"
    )
    flow_logs: bool = Field(default=False, description="VPC flow logs; billed by volume")


class Kubernetes(Model):
    """EKS cluster in addition to Slurm, in the same VPC."""

    version: Annotated[str, StringConstraints(pattern=r"^1\.\d{2}$")]
    service_cidr: IPv4Network = Field(
        default=IPv4Network("172.20.0.0/16"), description="range of service addresses; the default is that of EKS"
    )
    pod_cidr: IPv4Network | None = Field(
        default=None,
        description="secondary CIDR block of the VPC for pods; none: pods use addresses of the nodes' subnets",
    )
    pods_per_node: int = Field(default=30, ge=1, le=250)
    pools: tuple[Word, ...] = Field(default=(), description="pools whose nodes join it instead of Slurm")
    hybrid_nodes: bool = Field(default=False, description="on-prem nodes join the cluster through the link")
    endpoint: Literal["private", "public"] = Field(
        default="private", description="endpoint of the API server, reachable from the VPC or from the internet"
    )
    vpc_cni: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = Field(
        default="1.20.1", description="version of the VPC CNI; efa-only interfaces require 1.18.5"
    )
