"""The AWS network where an organisation has its own, and what else takes addresses in it."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Word, Zone

SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")]
RouteTableId = Annotated[str, StringConstraints(pattern=r"^rtb-[0-9a-f]{8,17}$")]
VpcId = Annotated[str, StringConstraints(pattern=r"^vpc-[0-9a-f]{8,17}$")]


class ExistingSubnet(Model):
    """A subnet that is there already."""

    id: SubnetId
    cidr: IPv4Network
    public: bool = Field(default=False, description="its route table has a way to an internet gateway")
    route_table: RouteTableId | None = Field(
        default=None, description="where the route to on-prem is added; none: the owner of the VPC adds it"
    )


class ExistingVpc(Model):
    """A VPC that is there already; `aws.cidr` is its range. Landbridge adds to it and changes nothing in it."""

    id: VpcId
    subnets: Annotated[Mapping[Zone, ExistingSubnet], Field(min_length=1)]
    dns_support: bool = Field(default=True, description="enableDnsSupport and enableDnsHostnames; endpoints need both")


class Logs(Model):
    """Retention of log groups in CloudWatch Logs."""

    retention_days: int = Field(default=180, ge=1, description="one of the values that CloudWatch Logs has")
    flow_logs: bool = Field(default=False, description="of the VPC; billed by volume")


class Kubernetes(Model):
    """An EKS cluster beside Slurm, in the same VPC."""

    version: Annotated[str, StringConstraints(pattern=r"^1\.\d{2}$")]
    service_cidr: IPv4Network = Field(default=IPv4Network("172.20.0.0/16"), description="EKS's own choice")
    pod_cidr: IPv4Network | None = Field(
        default=None,
        description="a secondary range of the VPC for pods; none: pods take addresses of the nodes' subnets",
    )
    pods_per_node: int = Field(default=30, ge=1, le=250)
    pools: tuple[Word, ...] = Field(default=(), description="pools whose nodes join it instead of Slurm")
    hybrid_nodes: bool = Field(default=False, description="on-prem nodes join it through the link")
    endpoint: Literal["private", "public"] = Field(default="private", description="where its API server answers")
    vpc_cni: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = Field(
        default="1.20.1", description="efa-only interfaces need 1.18.5"
    )
