"""Rules about subnets: of the file, of an existing VPC, and their number of addresses."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from landbridge.catalog import zones
from landbridge.catalog.aws.limits import limits
from landbridge.environment import Efs, Environment, capacity_zones
from landbridge.environment.cached import cached
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.addresses import SubnetBudget, ip_budget
from landbridge.plan.network.subnets import used_zones
from landbridge.rules.environment_cache import with_known_types
from landbridge.rules.environment_paths import (
    POOL_SIZES,
    POOL_ZONES,
    REGION,
    SHARES,
    capacities,
    cloud_file_systems,
    suggestion,
)
from landbridge.rules.registry import rule

_VPC: DataPath = ("aws", "vpc")
_POOLS: DataPath = ("aws", "pools")


@cached
def _budgets(environment: Environment) -> tuple[SubnetBudget, ...]:
    return ip_budget(with_known_types(environment))


@rule
def subnet_cidr(environment: Environment) -> Iterator[Finding]:
    """A subnet is a /16 to a /28 inside one of the VPC's ranges.

    Source: Amazon VPC User Guide, "Subnet CIDR blocks".
    """
    largest, smallest = limits().vpc.prefixes
    vpc_ranges = (environment.aws.cidr, *environment.aws.secondary_cidrs)
    related: tuple[DataPath, ...] = (("aws", "cidr"), ("aws", "secondary_cidrs"))
    for zone, cidr, path in _named(environment):
        if not largest <= cidr.prefixlen <= smallest:
            message = f"the subnet is a /{cidr.prefixlen}; AWS allows a /{largest} to a /{smallest}"
            yield error(path, message)
        elif not any(cidr.subnet_of(vpc_range) for vpc_range in vpc_ranges):
            message = f"the subnet {cidr} of {zone} is in no range of the VPC ({', '.join(map(str, vpc_ranges))})"
            fix = "use a part of aws.cidr, or add the range to aws.secondary_cidrs"
            yield error(path, message, fix=fix, related=related)


@rule
def subnet_zone(environment: Environment) -> Iterator[Finding]:
    """A subnet is in a zone id of the region that a pool or a file system uses.

    Source: Amazon VPC User Guide, "Subnets for your VPC": a subnet is in one zone; AWS RAM User Guide, zone ids.
    """
    known_zones = zones(environment.region)
    used = used_zones(with_known_types(environment))
    for zone, _, path in _named(environment):
        base = path[: path.index(zone) + 1]
        if known_zones and zone not in known_zones:
            message = f"{environment.region} has no zone {zone}"
            yield error(base, message, fix=suggestion(zone, known_zones), related=(REGION,))
        elif known_zones and zone not in used and with_known_types(environment) is environment:
            message = f"no pool or file system uses the zone {zone} of this subnet"
            related = (*POOL_ZONES, *SHARES, REGION)
            yield warning(base, message, fix="remove it, or write the zone in a pool", related=related)


@rule
def subnet_missing(environment: Environment) -> Iterator[Finding]:
    """An existing VPC has a subnet in every zone of the pools and file systems: Landbridge adds none.

    A capacity without zones uses every zone that offers its type.
    Source: EC2 RunInstances, FSx and EFS: the zone of an instance or file system is the zone of its subnet.
    """
    vpc = environment.aws.vpc
    if vpc is None:
        return
    subnets_path: DataPath = (*_VPC, "subnets")
    fix = f"it has subnets in {', '.join(vpc.subnets)}"
    for at in capacities(environment):
        zone_ids = capacity_zones(at.capacity)
        for zone in zone_ids:
            if zone not in vpc.subnets:
                message = f"the VPC has no subnet in {zone}"
                yield error(at.zone_path(zone), message, fix=fix, related=(subnets_path,))
        default_zones = () if zone_ids or at.type is None else at.type.zones_in(zones(environment.region))
        without = [zone for zone in default_zones if zone not in vpc.subnets]
        if without:
            message = f"{at.pool.name} uses all zones, and the VPC has no subnet in {', '.join(without)}"
            related = (subnets_path, at.instance_path, REGION)
            yield error(at.path, message, fix=f"write zones: {fix}", related=related)
    for path, share in cloud_file_systems(environment):
        for index, zone_id in enumerate(share.zones if isinstance(share, Efs) else (share.zone,)):
            if zone_id is not None and zone_id not in vpc.subnets:
                key = (*path, "zones", index) if isinstance(share, Efs) else (*path, "zone")
                message = f"the VPC has no subnet in {zone_id}"
                yield error(key, message, fix=fix, related=(subnets_path,))


@rule
def existing_vpc(environment: Environment) -> Iterator[Finding]:
    """An existing VPC is described in aws.vpc, and Landbridge changes nothing in it.

    Its DNS attributes are on, so that service names resolve to interface endpoints; it has one subnet for each zone;
    aws.subnets and aws.nat are for a VPC that Landbridge creates.
    Source: AWS PrivateLink guide, "Access an AWS service using an interface VPC endpoint"; ParallelCluster
    SubnetsValidator.
    """
    vpc, aws = environment.aws.vpc, environment.aws
    if vpc is None:
        return
    if not vpc.dns_support:
        message = (
            "the VPC's DNS attributes are off: names of services and instances do not resolve to private addresses"
        )
        fix = "turn on enableDnsSupport and enableDnsHostnames of the VPC"
        yield error((*_VPC, "dns_support"), message, fix=fix)
    if aws.subnets:
        message = "aws.subnets is for a VPC that Landbridge creates; an existing VPC has aws.vpc.subnets"
        yield error(("aws", "subnets"), message, fix="remove one of the two", related=(_VPC,))
    if aws.nat != "none":
        message = "aws.nat is for a VPC that Landbridge creates; an existing VPC gets no NAT gateway"
        yield error(("aws", "nat"), message, fix="remove it", related=(_VPC,))
    if environment.onprem is not None and not any(subnet.route_table for subnet in vpc.subnets.values()):
        message = "no subnet has route_table, so there is no route to the on-prem site"
        fix = "write route_table: rtb-…, or add the route to the link's transit gateway yourself"
        yield warning((*_VPC, "subnets"), message, fix=fix)
    first: dict[str, str] = {}
    for zone, subnet in vpc.subnets.items():
        if first.setdefault(subnet.id, zone) != zone:
            message = f"{subnet.id} is already the subnet of {first[subnet.id]}; a subnet is in one zone"
            yield error((*_VPC, "subnets", zone, "id"), message)


@rule
def public_subnet(environment: Environment) -> Iterator[Finding]:
    """Nodes without a public address are in a private subnet: an internet gateway needs public addresses.

    Source: Amazon VPC User Guide, "Internet gateways".
    """
    vpc = environment.aws.vpc
    pools = list(enumerate(environment.aws.pools))
    if vpc is not None and any(not pool.public_ip for _, pool in pools):
        for zone, subnet in vpc.subnets.items():
            if subnet.public:
                message = f"the nodes' subnet in {zone} is public, and nodes without public addresses cannot reach the internet from it"
                fix = "use a private subnet, with a NAT gateway or endpoints behind it"
                related = ((*_POOLS, "*", "public_ip"),)
                yield warning((*_VPC, "subnets", zone, "public"), message, fix=fix, related=related)


@rule
def subnet_too_small(environment: Environment) -> Iterator[Finding]:
    """Every zone's subnet has enough addresses for all nodes, endpoints and file systems; AWS reserves five in each.

    Needed are nodes times interfaces with an address, endpoints, file systems and the transit gateway's
    attachment. In a full subnet, launches fail with InsufficientFreeAddressesInSubnet.
    Source: Amazon VPC User Guide, "Subnet sizing"; terraform-aws-eks issue 2511.
    """
    names = [pool.name for pool in environment.aws.pools]
    full: dict[str | None, list[SubnetBudget]] = {}
    for budget in _budgets(environment):
        if budget.free < 0:
            largest = max(budget.per_pool, key=lambda name: budget.per_pool[name], default=None)
            full.setdefault(largest, []).append(budget)
    for name, budgets in full.items():
        worst = min(budgets, key=lambda budget: budget.free)
        zone_names = ", ".join(budget.zone for budget in budgets)
        counts = {
            "nodes": worst.nodes,
            "endpoints": worst.endpoints,
            "file systems": worst.file_systems,
            "the link": worst.link,
            "NAT": worst.nat,
            "services": worst.services,
        }
        parts = ", ".join(f"{part} {count}" for part, count in counts.items() if count)
        message = f"the subnet {worst.cidr} has {worst.addresses} addresses; {worst.needed} are needed in {zone_names} ({parts})"
        path: DataPath = (*_POOLS, names.index(name), "max_nodes") if name in names else worst.path
        layout = tuple((*_POOLS, "*", key) for key in ("name", "nics", "interfaces", "efa"))
        paths: tuple[DataPath, ...] = (("aws", "nat"), ("aws", "cidr"), ("aws", "vpc"))
        related = (worst.path, *POOL_SIZES, *layout, *paths, *SHARES, REGION)
        fix = f"{_widened(environment, worst)}use nics: ip_optimised, or lower max_nodes"
        yield error(path, message, fix=fix, related=related)


def _widened(environment: Environment, budget: SubnetBudget) -> str:
    """Return the part of a fix that says which range is large enough; empty if none is."""
    facts = limits().vpc
    needed = 32 - (budget.needed + facts.reserved_addresses - 1).bit_length()
    if budget.path == ("aws", "cidr"):
        # Subnets are equal parts of the VPC's range.
        needed += environment.aws.cidr.prefixlen - budget.cidr.prefixlen
    name = "aws.cidr" if budget.path == ("aws", "cidr") else "the subnet"
    return f"widen {name} to at least a /{needed}, " if needed >= facts.prefixes[0] else ""


def _named(environment: Environment) -> Iterator[tuple[str, IPv4Network, DataPath]]:
    for zone, cidr in environment.aws.subnets.items():
        yield zone, cidr, ("aws", "subnets", zone)
    if environment.aws.vpc is not None:
        for zone, subnet in environment.aws.vpc.subnets.items():
            yield zone, subnet.cidr, (*_VPC, "subnets", zone, "cidr")
