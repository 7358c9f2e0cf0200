"""Environment keys of an existing VPC and of CloudWatch Logs."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Zone

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
