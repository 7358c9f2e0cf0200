"""Stack outputs: the only data about AWS that Ansible, the burst controller and the operator read."""

from collections.abc import Mapping
from typing import Any, Literal

from landbridge.plan.args import Args, MarketKind

#: Output keys that Pulumi keeps encrypted; they are written to separate files.
SECRET_OUTPUTS = ("link_pre_shared_keys", "link_site_keys", "link_bgp_auth_key", "ssm_activation_code")


class SubnetOutput(Args):
    """Private subnet."""

    id: str
    cidr: str
    availability_zone: str


class NetworkOutput(Args):
    """VPC, with its subnets by zone id."""

    vpc_id: str
    cidr: str
    subnets: Mapping[str, SubnetOutput]


class TunnelOutput(Args):
    """VPN tunnel: the addresses of AWS's end and of our end."""

    outside_address: str
    inside_cidr: str
    aws_inside_address: str
    customer_inside_address: str
    over: Literal["internet", "line"] = "internet"


class LineOutput(Args):
    """Direct Connect settings for the site's router; the key of the BGP session is in `link_bgp_auth_key`."""

    gateway_id: str
    interface_id: str
    vlan: int
    mtu: int
    customer_address: str
    aws_address: str
    aws_asn: int


class SiteLinkOutput(Args):
    """Tunnels of another site, or of our own second gateway (`onprem-2`); their pre-shared keys are in `link_site_keys` under
    its name, in the same order.
    """

    customer_gateway_address: str
    tunnels: tuple[TunnelOutput, ...]


class LinkOutput(Args):
    """Tunnels of our own site's first gateway, those inside Direct Connect first; their keys are in `link_pre_shared_keys`, in the same
    order.
    """

    aws_asn: int
    customer_gateway_address: str | None = None
    tunnels: tuple[TunnelOutput, ...] = ()
    line: LineOutput | None = None
    sites: Mapping[str, SiteLinkOutput] = {}


class BucketOutput(Args):
    """Bucket of a data class."""

    name: str
    key_arn: str


class DataHubOutput(Args):
    """Buckets by data class; classes that must stay on-prem are absent."""

    buckets: Mapping[str, BucketOutput]


class IdentityOutput(Args):
    """IAM roles by purpose."""

    node_instance_profile: str
    node_role_arn: str
    launch_role_arn: str | None = None
    hub_role_arn: str | None = None
    terminate_role_arn: str | None = None
    read_role_arn: str | None = None
    mover_role_arn: str | None = None
    discovery_role_arn: str | None = None
    serving_role_arn: str | None = None
    archive_role_arn: str | None = None
    trust_anchor_arn: str | None = None
    profile_arns: Mapping[str, str] = {}
    #: Roles of jobs, and their profiles for on-prem nodes, by data class.
    job_role_arns: Mapping[str, str] = {}
    job_profile_arns: Mapping[str, str] = {}
    #: Roles of the nodes of pools that have their own, by pool.
    pool_role_arns: Mapping[str, str] = {}
    ssm_activation_id: str | None = None


class SecretsOutput(Args):
    """Names of secrets whose values Pulumi never sees."""

    slurm_key: str
    #: Certificate of the exporters of nodes in AWS; None: they are not monitored.
    node_metrics: str | None = None


class PoolSubnetOutput(Args):
    """Subnet in which the pool may launch, and the placement group of its zone."""

    id: str
    zone: str
    placement_group: str | None = None


class PoolOutput(Args):
    """Resources that a launch needs.

    `placement_group` is set if the pool has one capacity in one zone: then the launch template contains it too.
    Instance type and market are those of the first capacity; if there are several, each launch sets its own
    (`landbridge/plan/roles/burst.py`).
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

    kind: Literal[
        "fsx_lustre", "fsx_openzfs", "efs", "existing_lustre", "existing_openzfs", "existing_ontap", "existing_efs"
    ]
    id: str
    dns_name: str
    #: Lustre's mount name of the file system, a part of `source`.
    mount_name: str | None = None
    source: str
    type: str
    options: str
    mount: str
    #: Empty: not named in the file, for an existing EFS file system only.
    zones: tuple[str, ...]
    #: None for an existing file system: its groups are its owner's.
    security_group_id: str | None = None


class ServiceHostOutput(Args):
    """EC2 instance of a service host."""

    instance_id: str
    address: str


class DatabaseOutput(Args):
    """RDS database of slurmdbd. `secret_arn` is the secret of the master password, which RDS stores and rotates."""

    address: str
    port: int
    user: str
    secret_arn: str


class ServicesOutput(Args):
    """Services in AWS: hosts by name, the database, and the volume with the controller's state."""

    hosts: Mapping[str, ServiceHostOutput]
    database: DatabaseOutput
    security_group_id: str
    state_volume_id: str


class DnsOutput(Args):
    """Hosted zone of the cluster, and the inbound Resolver addresses that the site queries; empty without a site."""

    zone: str
    zone_id: str
    inbound_addresses: tuple[str, ...] = ()


class ImageOutput(Args):
    """Image pipeline, and the digest of the roles that it builds the image with."""

    pipeline_arn: str
    source: str


class SageMakerClassOutput(Args):
    """Role and security group of the training jobs of a data class, and the policy to start them."""

    role_arn: str
    policy_arn: str
    security_group_id: str


class SageMakerOutput(Args):
    """Resources of training jobs: resources of each data class, subnets, the object prefix that they may write, and the
    model package groups.
    """

    classes: Mapping[str, SageMakerClassOutput]
    subnet_ids: tuple[str, ...]
    prefix: str
    model_groups: Mapping[str, str] = {}
    approver_policy_arn: str | None = None


class StackOutputs(Args):
    """All outputs of an environment's stack. `link` is set if there is a site, `services` if the services
    are in AWS.
    """

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
    #: By other region: the VPC, and the launch resources of each pool that may start nodes there.
    region_networks: Mapping[str, NetworkOutput] = {}
    region_pools: Mapping[str, Mapping[str, PoolOutput]] = {}

    def public(self) -> dict[str, Any]:
        """Return every output that is not secret, as plain data."""
        return self.model_dump(mode="json", exclude=set(SECRET_OUTPUTS))
