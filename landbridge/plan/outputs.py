"""What a stack exports: the only thing that Ansible, the burst controller and the operator read from AWS's side."""

from collections.abc import Mapping
from typing import Any, Literal

from landbridge.plan.args import Args
from landbridge.plan.pool import MarketKind

#: Output keys that Pulumi keeps encrypted; they are written apart from the others.
SECRET_OUTPUTS = ("link_pre_shared_keys", "ssm_activation_code")


class SubnetOutput(Args):
    """A private subnet."""

    id: str
    cidr: str
    availability_zone: str


class NetworkOutput(Args):
    """The VPC; subnets by zone id."""

    vpc_id: str
    cidr: str
    subnets: Mapping[str, SubnetOutput]


class TunnelOutput(Args):
    """One tunnel of the VPN: AWS's end and ours."""

    outside_address: str
    inside_cidr: str
    aws_inside_address: str
    customer_inside_address: str


class LinkOutput(Args):
    """Both tunnels; their keys are in `link_pre_shared_keys`, in the same order."""

    aws_asn: int
    customer_gateway_address: str
    tunnels: tuple[TunnelOutput, ...]


class BucketOutput(Args):
    """A data class's bucket."""

    name: str
    key_arn: str


class HubOutput(Args):
    """Buckets by data class; classes that must stay on-prem are absent."""

    buckets: Mapping[str, BucketOutput]


class IdentityOutput(Args):
    """Roles by what they are for."""

    node_instance_profile: str
    node_role_arn: str
    launch_role_arn: str
    hub_role_arn: str
    terminate_role_arn: str | None = None
    read_role_arn: str | None = None
    mover_role_arn: str | None = None
    trust_anchor_arn: str | None = None
    profile_arns: Mapping[str, str] = {}
    ssm_activation_id: str | None = None


class SecretsOutput(Args):
    """Names of secrets whose values Pulumi never sees."""

    slurm_key: str


class PoolSubnetOutput(Args):
    """A subnet in which the pool may launch, and the placement group of its zone."""

    id: str
    zone: str
    placement_group: str | None = None


class PoolOutput(Args):
    """What launching needs. `placement_group` is set where the pool has one zone: then the template names it too."""

    launch_template_id: str
    launch_template_name: str
    launch_template_version: str
    instance_type: str
    max_nodes: int
    market: MarketKind
    placement_group: str | None = None
    security_group_id: str
    subnets: tuple[PoolSubnetOutput, ...]


class FileSystemOutput(Args):
    """What mounting a file system takes: `mount -t type -o options source mount`."""

    kind: Literal["fsx_lustre", "fsx_openzfs", "efs"]
    id: str
    dns_name: str
    #: Lustre's own name of it, a part of `source`.
    mount_name: str | None = None
    source: str
    type: str
    options: str
    mount: str
    zones: tuple[str, ...]
    security_group_id: str


class StackOutputs(Args):
    """Every output of an environment's stack."""

    cluster: str
    region: str
    network: NetworkOutput
    link: LinkOutput
    link_pre_shared_keys: tuple[str, ...] | None = None
    ssm_activation_code: str | None = None
    hub: HubOutput
    identity: IdentityOutput
    secrets: SecretsOutput
    pools: Mapping[str, PoolOutput]
    filesystems: Mapping[str, FileSystemOutput] = {}

    def public(self) -> dict[str, Any]:
        """Return everything that is no secret, as plain data."""
        return self.model_dump(mode="json", exclude=set(SECRET_OUTPUTS))
