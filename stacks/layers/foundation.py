"""Foundation layer: network, link, data hub, roles. It changes least often, and the other layers depend on it."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.data_hub import DataHub
from components.dns import Dns
from components.existing_network import ExistingNetwork
from components.governance.flow_logs import FlowLogs
from components.identity import Identity
from components.link import Link
from components.network import Network
from landbridge.environment import Environment
from landbridge.plan.aws.access.identity import IdentityArgs, identity_args
from landbridge.plan.aws.alarms import monitored_ids
from landbridge.plan.aws.storage.data_hub import DataHubArgs, data_hub_args
from landbridge.plan.network.dns import DnsArgs, dns_args
from landbridge.plan.network.flow_logs import FlowLogsArgs, flow_logs_args
from landbridge.plan.network.link import LinkArgs, link_args
from landbridge.plan.network.network import NetworkArgs, network_args
from layers import regions
from layers.context import Context, Exports
from layers.handover import from_stack
from layers.regions import RegionPlan


@dataclass(frozen=True)
class FoundationPlan:
    """Plan of the foundation layer."""

    network: NetworkArgs
    link: LinkArgs | None
    data_hub: DataHubArgs
    identity: IdentityArgs
    flow_logs: FlowLogsArgs | None
    dns: DnsArgs | None
    regions: tuple[RegionPlan, ...]

    @classmethod
    def of(cls, environment: Environment) -> "FoundationPlan":
        """Plan the layer. Raises FindingsError."""
        return cls(
            network_args(environment),
            link_args(environment) if environment.link is not None else None,
            data_hub_args(environment),
            identity_args(environment),
            flow_logs_args(environment),
            dns_args(environment),
            RegionPlan.of(environment),
        )


@dataclass(frozen=True)
class Foundation:
    """Outputs of the foundation that other layers read. Keys are from the plan (zones, data classes),
    values from AWS.
    """

    vpc_id: pulumi.Output[str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    route_table_ids: Mapping[str, pulumi.Input[str]]
    zone_names: Mapping[str, pulumi.Output[str]]
    buckets: Mapping[str, pulumi.Output[str]]
    bucket_arns: Mapping[str, pulumi.Output[str]]
    bucket_key_arns: Mapping[str, pulumi.Output[str]]
    #: None for an environment without a site: the controller's instance role launches nodes.
    launch_role_name: pulumi.Output[str] | None
    launch_role_arn: pulumi.Output[str] | None
    node_role_arn: pulumi.Output[str]
    node_profile_arn: pulumi.Output[str]
    #: Roles and instance profiles of pools whose nodes have their own, by pool.
    pool_role_arns: Mapping[str, pulumi.Output[str]]
    pool_profile_arns: Mapping[str, pulumi.Output[str]]
    slurm_key_arn: pulumi.Output[str]
    dns_zone_id: pulumi.Output[str] | None
    #: Other regions: VPCs by region, subnets by zone id (zone ids are unique over regions).
    region_vpc_ids: Mapping[str, pulumi.Output[str]]
    region_subnet_ids: Mapping[str, pulumi.Input[str]]
    #: Ids of VPN connections and NAT gateways, and addresses of tunnels, for alarms.
    monitored_ids: Mapping[str, pulumi.Output[str]]

    def profile_arn(self, pool: str) -> pulumi.Output[str]:
        """Return the instance profile of a pool's nodes."""
        return self.pool_profile_arns.get(pool, self.node_profile_arn)

    @classmethod
    def from_stack(cls, plan: FoundationPlan, environment: Environment) -> "Foundation":
        """Return the outputs from the stack of this layer."""
        zones, existing = [subnet.zone for subnet in plan.network.private], plan.network.existing
        classes = [bucket.data_class for bucket in plan.data_hub.buckets]
        keys = {
            "subnet_ids": zones,
            "route_table_ids": zones if existing is None else existing.route_table_ids,
            "zone_names": zones,
            "buckets": classes,
            "bucket_arns": classes,
            "bucket_key_arns": classes,
            "region_vpc_ids": [region.region for region in plan.regions],
            "region_subnet_ids": [subnet.zone for region in plan.regions for subnet in region.network.private],
            "monitored_ids": monitored_ids(environment),
            "pool_role_arns": [role.pool for role in plan.identity.pool_roles],
            "pool_profile_arns": [role.pool for role in plan.identity.pool_roles],
        }
        absent_fields = {"dns_zone_id"} if plan.dns is None else set()
        absent_fields |= set() if plan.identity.hosts else {"launch_role_name", "launch_role_arn"}
        return from_stack(cls, keys, absent_fields, environment, "foundation")


def build(plan: FoundationPlan, context: Context) -> tuple[Foundation, Exports, pulumi.Resource]:
    """Register the resources of the layer. The third value has the roles that terminate nodes."""
    name, options = context.environment.name, context.options
    network = (Network if plan.network.existing is None else ExistingNetwork)(name, plan.network, opts=options)
    if plan.flow_logs is not None:
        FlowLogs(name, plan.flow_logs, vpc_id=network.vpc_id, opts=options)
    link = None
    if plan.link is not None:
        link = Link(
            name,
            plan.link,
            vpc_id=network.vpc_id,
            subnet_ids=[network.subnet_ids[zone] for zone in sorted(network.subnet_ids)],
            route_table_ids=network.route_table_ids,
            opts=options,
        )
    networks = regions.build(plan.regions, link.home if link is not None else None, context)
    dns = None
    if plan.dns is not None:
        dns = Dns(name, plan.dns, vpc_id=network.vpc_id, subnet_ids=network.subnet_ids, opts=options)
    data = DataHub(name, plan.data_hub, account=context.account, opts=options)
    identity = Identity(
        name,
        plan.identity,
        account=context.account,
        region=context.environment.region,
        bucket_arns={key: bucket.arn for key, bucket in data.buckets.items()},
        key_arns={key: value.arn for key, value in data.keys.items()},
        opts=options,
    )
    exports = {
        "network": network.exports(),
        **({} if link is None else {"link": link.exports(), **link.secrets()}),
        "data_hub": data.exports(),
        "identity": identity.exports(),
        "secrets": identity.secret_names(),
    }
    if identity.activation is not None:
        exports["ssm_activation_code"] = pulumi.Output.secret(identity.activation.activation_code)
    if dns is not None:
        exports["dns"] = dns.exports()
    if networks:
        exports["region_networks"] = {region: region_network.exports() for region, region_network in networks.items()}
    launch_role = identity.launch_role
    foundation = Foundation(
        vpc_id=network.vpc_id,
        subnet_ids=network.subnet_ids,
        route_table_ids=network.route_table_ids,
        zone_names=network.zone_names,
        buckets={key: bucket.bucket for key, bucket in data.buckets.items()},
        bucket_arns={key: bucket.arn for key, bucket in data.buckets.items()},
        bucket_key_arns={key: bucket_key.arn for key, bucket_key in data.keys.items()},
        launch_role_name=launch_role.name if launch_role is not None else None,
        launch_role_arn=launch_role.arn if launch_role is not None else None,
        node_role_arn=identity.node_role_arn,
        slurm_key_arn=identity.secret_arn,
        node_profile_arn=identity.node_profile.arn,
        pool_role_arns=identity.pool_role_arns,
        pool_profile_arns=identity.pool_profile_arns,
        dns_zone_id=None if dns is None else dns.zone_id,
        region_vpc_ids={region: region_network.vpc_id for region, region_network in networks.items()},
        region_subnet_ids={
            zone: id_ for region_network in networks.values() for zone, id_ in region_network.subnet_ids.items()
        },
        monitored_ids={**({} if link is None else link.monitored_ids()), **network.monitored_ids()},
    )
    return foundation, exports, identity
