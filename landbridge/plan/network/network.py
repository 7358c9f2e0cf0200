"""Network in AWS: VPC, subnets with their ranges, and VPC endpoints."""

from typing import Literal

from landbridge.catalog.aws.endpoints import endpoint_name
from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.network.cloud_hosts import reserved_for_hosts
from landbridge.plan.network.dns import resolver_range
from landbridge.plan.network.endpoint_policy import EndpointPolicyArgs, endpoint_policy_args
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.subnets import PARTS_PER_RANGE, Tier, part, subnets, used_zones, zone_number

__all__ = [
    "PARTS_PER_RANGE",
    "EndpointPlan",
    "ExistingPlan",
    "NetworkArgs",
    "ReservedRange",
    "SubnetPlan",
    "network_args",
    "part",
    "zone_number",
]


class ReservedRange(Args):
    """Subnet CIDR reservation: EC2 assigns none of its addresses automatically."""

    name: str
    cidr: str
    why: str


class SubnetPlan(Args):
    """Subnet of a zone, by zone id (zone names differ between accounts, ids do not), with the ranges of planned
    addresses.
    """

    zone: str
    cidr: str
    reserved: tuple[ReservedRange, ...] = ()


class EndpointPlan(Args):
    """VPC endpoint of one AWS service. `name` is the service's full name in the region."""

    service: str
    name: str
    why: str


class ExistingPlan(Args):
    """Existing VPC: its subnets by zone, and the route tables that the link adds routes to."""

    vpc_id: str
    subnet_ids: dict[str, str]
    route_table_ids: tuple[str, ...]


class NetworkArgs(Args):
    """VPC with private subnets, and public subnets for NAT gateways only. With `existing`, no VPC and no subnet is
    created.

    `onprem_cidr` is None without an on-prem site.
    """

    cluster: str
    region: str
    cidr: str
    secondary_cidrs: tuple[str, ...] = ()
    private: tuple[SubnetPlan, ...]
    public: tuple[SubnetPlan, ...]
    nat: Literal["none", "single", "per_zone"]
    gateway_endpoints: tuple[EndpointPlan, ...]
    interface_endpoints: tuple[EndpointPlan, ...]
    endpoint_policy: EndpointPolicyArgs
    onprem_cidr: str | None
    existing: ExistingPlan | None = None
    tags: dict[str, str]


def network_args(environment: Environment) -> NetworkArgs:
    """Plan the network of all used zones. Raises ValueError for a zone that gets no subnet."""
    planned = subnets(environment)

    def tier(tier: Tier) -> tuple[SubnetPlan, ...]:
        return tuple(
            SubnetPlan(
                zone=subnet.zone,
                cidr=str(subnet.cidr),
                reserved=_reserved(environment, subnet.zone) if tier == "private" else (),
            )
            for subnet in planned
            if subnet.tier == tier
        )

    private = tier("private")
    missing = set(used_zones(environment)) - {plan.zone for plan in private}
    if missing:
        raise ValueError(f"no subnet can be created in {', '.join(sorted(missing))} out of {environment.aws.cidr}")
    return NetworkArgs(
        cluster=environment.name,
        region=environment.region,
        cidr=str(environment.aws.cidr),
        secondary_cidrs=tuple(str(cidr) for cidr in environment.aws.secondary_cidrs),
        private=private,
        public=tier("public"),
        nat=environment.aws.nat,
        gateway_endpoints=_endpoints(environment, "gateway"),
        interface_endpoints=_endpoints(environment, "interface"),
        endpoint_policy=endpoint_policy_args(environment),
        onprem_cidr=str(environment.onprem.cidr) if environment.onprem is not None else None,
        existing=_existing(environment, private),
        tags=tags(environment),
    )


def _reserved(environment: Environment, zone: str) -> tuple[ReservedRange, ...]:
    """Return the ranges of a zone's private subnet that are reserved: for service hosts, and for Resolver endpoints."""
    hosts = reserved_for_hosts(environment, zone)
    resolver = resolver_range(environment, zone)
    ranges = (
        ("hosts", hosts, "hosts with planned addresses"),
        ("resolver", resolver, "Resolver endpoints with planned addresses"),
    )
    return tuple(ReservedRange(name=name, cidr=str(cidr), why=why) for name, cidr, why in ranges if cidr is not None)


def _existing(environment: Environment, private: tuple[SubnetPlan, ...]) -> ExistingPlan | None:
    vpc = environment.aws.vpc
    if vpc is None:
        return None
    used = {plan.zone: vpc.subnets[plan.zone] for plan in private}
    tables = (subnet.route_table for subnet in used.values() if subnet.route_table is not None)
    return ExistingPlan(
        vpc_id=vpc.id,
        subnet_ids={zone: subnet.id for zone, subnet in used.items()},
        route_table_ids=tuple(sorted(set(tables))),
    )


def _endpoints(environment: Environment, kind: Literal["gateway", "interface"]) -> tuple[EndpointPlan, ...]:
    return tuple(
        EndpointPlan(
            service=endpoint.service,
            name=endpoint_name(endpoint.service, endpoint.kind, environment.region),
            why=endpoint.why,
        )
        for endpoint in endpoint_services(environment)
        if endpoint.kind == kind
    )
