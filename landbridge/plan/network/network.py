"""The AWS network: which subnets there are, which addresses they have, and which endpoints stand in them."""

from typing import Literal

from landbridge.catalog.aws.endpoints import endpoint_name
from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.network.cloud_hosts import cloud_hosts
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.subnets import PARTS_PER_RANGE, Tier, part, subnets, used_zones, zone_number

__all__ = [
    "PARTS_PER_RANGE",
    "EndpointPlan",
    "ExistingPlan",
    "NetworkArgs",
    "SubnetPlan",
    "network_args",
    "part",
    "zone_number",
]


class SubnetPlan(Args):
    """A subnet, known by the id of its zone (names of zones differ between accounts, ids do not).

    From `reserved` nothing gets an address that does not ask for a certain one: it is kept for hosts with planned addresses.
    """

    zone: str
    cidr: str
    reserved: str | None = None


class EndpointPlan(Args):
    """A way to one AWS service that leaves the VPC for nowhere else. `name` is the service's full name in its region."""

    service: str
    name: str
    why: str


class ExistingPlan(Args):
    """A VPC that is there: its subnets by zone, and the route tables that the link adds routes to, each once."""

    vpc_id: str
    subnet_ids: dict[str, str]
    route_table_ids: tuple[str, ...]


class NetworkArgs(Args):
    """A VPC with private subnets; public ones only where a NAT gateway stands in them. `existing`: none of it is made.

    `onprem_cidr` is None where there is no site behind a link.
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
    onprem_cidr: str | None
    existing: ExistingPlan | None = None
    tags: dict[str, str]


def network_args(environment: Environment) -> NetworkArgs:
    """Plan the network of every zone that something is in. Raises ValueError for a zone that gets no subnet."""
    planned, reserved = subnets(environment), _reserved(environment)

    def tier(tier: Tier) -> tuple[SubnetPlan, ...]:
        return tuple(
            SubnetPlan(
                zone=subnet.zone,
                cidr=str(subnet.cidr),
                reserved=reserved.get(subnet.zone) if tier == "private" else None,
            )
            for subnet in planned
            if subnet.tier == tier
        )

    private = tier("private")
    missing = set(used_zones(environment)) - {plan.zone for plan in private}
    if missing:
        raise ValueError(f"no subnet can be made in {', '.join(sorted(missing))} out of {environment.aws.cidr}")
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
        onprem_cidr=str(environment.onprem.cidr) if environment.onprem is not None else None,
        existing=_existing(environment, private),
        tags=tags(environment),
    )


def _reserved(environment: Environment) -> dict[str, str]:
    """Ranges that are kept for the services' hosts, by zone."""
    services = environment.aws.services
    reserved = cloud_hosts(environment, services) if services is not None else None
    return {reserved.zone: str(reserved.reserved)} if reserved is not None and reserved.reserved is not None else {}


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
