"""Stack outputs: the only data about AWS that Ansible, the burst controller and the operator read."""

from collections.abc import Mapping
from typing import Any, Literal

from landbridge.plan.args import Args, MarketKind

#: Output keys that Pulumi keeps encrypted; they are written apart from the others.
SECRET_OUTPUTS = ("link_pre_shared_keys", "link_site_keys", "link_bgp_auth_key", "ssm_activation_code")


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
    over: Literal["internet", "line"] = "internet"


class LineOutput(Args):
    """Direct Connect settings for the site's router; the session's key is in `link_bgp_auth_key`."""

    gateway_id: str
    interface_id: str
    vlan: int
    mtu: int
    customer_address: str
    aws_address: str
    aws_asn: int


class SiteLinkOutput(Args):
    """Another site's tunnels; their keys are in `link_site_keys` under its name, in the same order."""

    customer_gateway_address: str
    tunnels: tuple[TunnelOutput, ...]


class LinkOutput(Args):
    """Our own tunnels, those inside the line first; their keys are in `link_pre_shared_keys`, in the same order."""

    aws_asn: int
    customer_gateway_address: str | None = None
    tunnels: tuple[TunnelOutput, ...] = ()
    line: LineOutput | None = None
    sites: Mapping[str, SiteLinkOutput] = {}


class BucketOutput(Args):
    """A data class's bucket."""

    name: str
    key_arn: str


class DataHubOutput(Args):
    """Buckets by data class; classes that must stay on-prem are absent."""

    buckets: Mapping[str, BucketOutput]


class IdentityOutput(Args):
    """Roles by what they are for."""

    node_instance_profile: str
    node_role_arn: str
    launch_role_arn: str | None = None
    hub_role_arn: str | None = None
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
    """Resources that a launch needs. `placement_group` is set where the pool has one capacity in one zone: then the
    template names it too. Type and market are the first capacity's; of several, each launch names its own
    (`landbridge/plan/ansible/burst.py`).
    """

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
    """Mount arguments of a file system: `mount -t type -o options source mount`."""

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


class ServiceHostOutput(Args):
    """An instance that serves the cluster."""

    instance_id: str
    address: str


class DatabaseOutput(Args):
    """RDS under slurmdbd. `secret_arn` names the master password's secret, which RDS keeps and turns over itself."""

    address: str
    port: int
    user: str
    secret_arn: str


class ServicesOutput(Args):
    """The services in AWS, hosts by name. The volume is the one that the controller's state is on."""

    hosts: Mapping[str, ServiceHostOutput]
    database: DatabaseOutput
    security_group_id: str
    state_volume_id: str


class DnsOutput(Args):
    """The cluster's zone, and where the site asks for it: nowhere, without a site."""

    zone: str
    zone_id: str
    inbound_addresses: tuple[str, ...] = ()


class ImageOutput(Args):
    """The pipeline that builds an image, and the digest of the roles that it builds it with."""

    pipeline_arn: str
    source: str


class SageMakerOutput(Args):
    """Resources of a training job: its role, subnets and security group, the prefix that it writes below; the
    registry's model package groups.
    """

    role_arn: str
    policy_arn: str
    security_group_id: str
    subnet_ids: tuple[str, ...]
    prefix: str
    model_groups: Mapping[str, str] = {}


class StackOutputs(Args):
    """Every output of an environment's stack. `link` is there where there is a site, `services` where they are in AWS."""

    cluster: str
    region: str
    network: NetworkOutput
    link: LinkOutput | None = None
    link_pre_shared_keys: tuple[str, ...] | None = None
    link_site_keys: Mapping[str, tuple[str, ...]] | None = None
    link_bgp_auth_key: str | None = None
    ssm_activation_code: str | None = None
    data_hub: DataHubOutput
    identity: IdentityOutput
    secrets: SecretsOutput
    pools: Mapping[str, PoolOutput]
    file_systems: Mapping[str, FileSystemOutput] = {}
    dns: DnsOutput | None = None
    sagemaker: SageMakerOutput | None = None
    services: ServicesOutput | None = None
    images: Mapping[str, ImageOutput] = {}
    #: In other regions: the VPC, and what each pool that may start nodes there starts them from.
    region_networks: Mapping[str, NetworkOutput] = {}
    region_pools: Mapping[str, Mapping[str, PoolOutput]] = {}

    def public(self) -> dict[str, Any]:
        """Return every output that is not secret, as plain data."""
        return self.model_dump(mode="json", exclude=set(SECRET_OUTPUTS))
