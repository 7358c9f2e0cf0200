"""Address plan: used ranges, overlaps of ranges, and the address budget of every subnet.

docs/explanation/addresses.md explains it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations
from typing import Literal

from landbridge.environment import Environment, PoolSettings
from landbridge.environment.link import LineVpn
from landbridge.findings import DataPath
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.network.cloud_hosts import reserved_for_hosts
from landbridge.plan.network.dns import resolver_addresses
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.link import TUNNELS_OF_A_CONNECTION, connections
from landbridge.plan.network.subnets import PlannedSubnet, Tier, subnets
from landbridge.plan.storage import addresses as storage_addresses
from landbridge.plan.zones import services_zones

RangeKind = Literal["site", "vpc", "region", "subnet", "container", "tunnel", "line"]


@dataclass(frozen=True, slots=True)
class Range:
    """Used address range: its name, and its path in the environment file."""

    name: str
    kind: RangeKind
    cidr: IPv4Network
    path: DataPath


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two ranges that overlap and must not; `second` is later in the file's order."""

    first: Range
    second: Range


@dataclass(frozen=True, slots=True)
class SubnetBudget:
    """Address budget of one subnet in the worst case: every node that may start in it runs.

    `addresses` is the number of usable addresses, `needed` the number of used ones, `free` the difference (below 0: not
    enough). `per_pool` is each pool's part of `nodes`. `link` is the transit gateway's attachment,
    `services` the range reserved for service hosts, and their database.
    """

    zone: str
    tier: Tier
    cidr: IPv4Network
    path: DataPath
    addresses: int
    nodes: int
    endpoints: int
    file_systems: int
    link: int
    nat: int
    services: int
    per_pool: Mapping[str, int]

    @property
    def needed(self) -> int:
        """Number of addresses that the subnet needs."""
        return self.nodes + self.endpoints + self.file_systems + self.link + self.nat + self.services

    @property
    def free(self) -> int:
        """Number of unused addresses; negative if the subnet is too small."""
        return self.addresses - self.needed


def ranges(environment: Environment) -> Iterator[Range]:
    """Yield every range in the file's order, and the subnets that are derived from it."""
    onprem, aws = environment.onprem, environment.aws
    if onprem is not None:
        yield Range("the on-prem range", "site", onprem.cidr, ("onprem", "cidr"))
        for name, cidr in onprem.container_cidrs.items():
            yield Range(f"the container range {name}", "container", cidr, ("onprem", "container_cidrs", name))
    yield Range("the AWS range", "vpc", aws.cidr, ("aws", "cidr"))
    for index, cidr in enumerate(aws.secondary_cidrs):
        yield Range("the VPC's secondary range", "vpc", cidr, ("aws", "secondary_cidrs", index))
    for name, region in aws.other_regions.items():
        yield Range(f"the range of {name}", "region", region.cidr, ("aws", "other_regions", name, "cidr"))
    for subnet in subnets(environment):
        yield Range(f"the {subnet.tier} subnet of {subnet.zone}", "subnet", subnet.cidr, subnet.path)
    yield from link_ranges(environment)


def link_ranges(environment: Environment) -> Iterator[Range]:
    """Yield the ranges of other sites, AWS's range of a VPN inside Direct Connect, and the inside ranges of tunnels."""
    for name, site in environment.link.sites.items() if environment.link is not None else ():
        yield Range(f"the range of site {name}", "site", site.cidr, ("link", "sites", name, "cidr"))
    for connection in connections(environment):
        if isinstance(connection.tunnels, LineVpn) and connection.gateway == 0:
            yield Range("AWS's range in the line", "line", connection.tunnels.cidr, (*connection.path, "cidr"))
        first = connection.gateway * TUNNELS_OF_A_CONNECTION
        for index, cidr in enumerate(connection.inside_cidrs or (), start=first):
            suffix = "" if connection.path == ("link",) else f" ({connection.key})"
            yield Range(
                f"tunnel {index + 1}'s inside range{suffix}", "tunnel", cidr, (*connection.path, "inside_cidrs", index)
            )


def overlaps(environment: Environment) -> tuple[Overlap, ...]:
    """Return every pair of ranges that overlap and must not."""
    pairs = combinations(ranges(environment), 2)
    return tuple(
        Overlap(first, other)
        for first, other in pairs
        if first.cidr.overlaps(other.cidr) and not _may_overlap(first, other)
    )


def outside(environment: Environment) -> tuple[Range, ...]:
    """Return the subnets that are outside all ranges of the VPC."""
    all_ranges = tuple(ranges(environment))
    vpc = [address_range.cidr for address_range in all_ranges if address_range.kind == "vpc"]
    return tuple(
        address_range
        for address_range in all_ranges
        if address_range.kind == "subnet" and not any(address_range.cidr.subnet_of(cidr) for cidr in vpc)
    )


def ip_budget(environment: Environment) -> tuple[SubnetBudget, ...]:
    """Return the address budget of every subnet, by tier and zone, in the worst case: all nodes of each pool are in one
    zone.
    """
    plans = subnets(environment)
    demands = [_demand(environment, pool) for pool in environment.aws.pools]
    endpoints = sum(endpoint.kind == "interface" for endpoint in endpoint_services(environment))
    file_system_addresses = storage_addresses(environment)
    resolver_counts = resolver_addresses(environment)
    return tuple(
        _budget(environment, plan, demands, endpoints + resolver_counts.get(plan.zone, 0), file_system_addresses)
        for plan in plans
    )


@dataclass(frozen=True, slots=True)
class _Demand:
    """Addresses of a pool's nodes by zone, in the worst case."""

    pool: str
    nodes: Mapping[str, int]


def _demand(environment: Environment, pool: PoolSettings) -> _Demand:
    """Return a pool's demand: in each zone the maximum number of nodes, each of the type that takes most addresses."""
    node_counts: dict[str, int] = {}
    widest: dict[str, int] = {}
    for terms in fallbacks(pool, environment.region):
        addresses_per_node = sum(nic.ip for nic in pool_interfaces(pool, terms.instance))
        for zone in terms.zones:
            capacity_size = pool.max_nodes if terms.size is None else terms.size
            node_counts[zone] = min(pool.max_nodes, node_counts.get(zone, 0) + capacity_size)
            widest[zone] = max(widest.get(zone, 0), addresses_per_node)
    return _Demand(pool.name, {zone: count * widest[zone] for zone, count in node_counts.items()})


def _budget(
    environment: Environment,
    plan: PlannedSubnet,
    demands: list[_Demand],
    endpoints: int,
    file_system_addresses: Mapping[str, int],
) -> SubnetBudget:
    is_private = plan.tier == "private"
    node_addresses = {demand.pool: demand.nodes.get(plan.zone, 0) if is_private else 0 for demand in demands}
    return SubnetBudget(
        zone=plan.zone,
        tier=plan.tier,
        cidr=plan.cidr,
        path=plan.path,
        addresses=plan.addresses,
        nodes=sum(node_addresses.values()),
        endpoints=endpoints if is_private else 0,
        file_systems=file_system_addresses.get(plan.zone, 0) if is_private else 0,
        link=int(is_private and environment.link is not None),
        nat=int(plan.tier == "public"),
        services=_services(environment, plan.zone) if is_private else 0,
        per_pool={name: count for name, count in node_addresses.items() if count},
    )


def _services(environment: Environment, zone: str) -> int:
    """Return the addresses of services and model servers in AWS: the reserved range in their zones, and one in each of the
    database's two zones.
    """
    reserved = reserved_for_hosts(environment, zone)
    return int(zone in services_zones(environment)) + (reserved.num_addresses if reserved is not None else 0)


def _may_overlap(first: Range, other: Range) -> bool:
    """True if two ranges may overlap: a VPC range and its part, or container ranges, which are not routed."""
    kinds = {first.kind, other.kind}
    if kinds == {"container"}:
        return True
    if kinds == {"vpc", "subnet"}:
        inner, outer = (other, first) if first.kind == "vpc" else (first, other)
        return inner.cidr.subnet_of(outer.cidr)
    return False
