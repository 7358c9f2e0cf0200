"""The address plan: which ranges there are, which of them clash, and whether every subnet has room for what lives in it.

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
from landbridge.plan.network.cloud_hosts import cloud_hosts
from landbridge.plan.network.dns import resolver_addresses
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.link import connections
from landbridge.plan.network.subnets import PlannedSubnet, Tier, subnets
from landbridge.plan.storage import addresses as storage_addresses
from landbridge.plan.zones import services_zones

RangeKind = Literal["site", "vpc", "region", "subnet", "container", "pods", "services", "tunnel", "line"]


@dataclass(frozen=True, slots=True)
class Range:
    """Used address range: its name, and its path in the file."""

    name: str
    kind: RangeKind
    cidr: IPv4Network
    path: DataPath


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two ranges that share addresses and must not; `second` stands later in the file's order."""

    first: Range
    second: Range


@dataclass(frozen=True, slots=True)
class SubnetBudget:
    """Address budget of one subnet: the addresses that it needs at once when every node that may start in it runs.

    `addresses` can be given out, `needed` are wanted, `free` is the difference (below 0: not enough). `per_pool` is the
    part of `nodes` and `pods` that each pool takes. `link` is the transit gateway's attachment, `services` the range reserved
    for their hosts, and their database.
    """

    zone: str
    tier: Tier
    cidr: IPv4Network
    path: DataPath
    addresses: int
    nodes: int
    endpoints: int
    file_systems: int
    pods: int
    link: int
    nat: int
    services: int
    per_pool: Mapping[str, int]

    @property
    def needed(self) -> int:
        """All of it."""
        return self.nodes + self.endpoints + self.file_systems + self.pods + self.link + self.nat + self.services

    @property
    def free(self) -> int:
        """Return the number of unused addresses."""
        return self.addresses - self.needed


def ranges(environment: Environment) -> Iterator[Range]:
    """Every range in the file's order, and every subnet that follows from it."""
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
        if subnet.tier != "pods":
            yield Range(f"the {subnet.tier} subnet of {subnet.zone}", "subnet", subnet.cidr, subnet.path)
    if aws.kubernetes is not None:
        if aws.kubernetes.pod_cidr is not None:
            yield Range("the pods' range", "pods", aws.kubernetes.pod_cidr, ("aws", "kubernetes", "pod_cidr"))
        path: DataPath = ("aws", "kubernetes", "service_cidr")
        yield Range("the services' range", "services", aws.kubernetes.service_cidr, path)
    yield from link_ranges(environment)


def link_ranges(environment: Environment) -> Iterator[Range]:
    """The other sites' ranges, and those of tunnels: inside them, and where AWS's ends of a VPN inside a line are."""
    for name, site in environment.link.sites.items() if environment.link is not None else ():
        yield Range(f"the range of site {name}", "site", site.cidr, ("link", "sites", name, "cidr"))
    for connection in connections(environment):
        if isinstance(connection.tunnels, LineVpn):
            yield Range("AWS's range in the line", "line", connection.tunnels.cidr, (*connection.path, "cidr"))
        for index, cidr in enumerate(connection.tunnels.inside_cidrs or ()):
            whose = "" if connection.path == ("link",) else f" ({connection.key})"
            yield Range(
                f"tunnel {index + 1}'s inside range{whose}", "tunnel", cidr, (*connection.path, "inside_cidrs", index)
            )


def overlaps(environment: Environment) -> tuple[Overlap, ...]:
    """Every pair of ranges that share addresses and must not."""
    pairs = combinations(ranges(environment), 2)
    return tuple(
        Overlap(first, other) for first, other in pairs if first.cidr.overlaps(other.cidr) and not _may(first, other)
    )


def outside(environment: Environment) -> tuple[Range, ...]:
    """Subnets that no range of the VPC holds."""
    all_ranges = tuple(ranges(environment))
    vpc = [address_range.cidr for address_range in all_ranges if address_range.kind == "vpc"]
    return tuple(
        address_range
        for address_range in all_ranges
        if address_range.kind == "subnet" and not any(address_range.cidr.subnet_of(cidr) for cidr in vpc)
    )


def ip_budget(environment: Environment) -> tuple[SubnetBudget, ...]:
    """Return the address budget of every subnet, by tier and zone: the worst case, in which each pool is whole in one
    zone.
    """
    plans = subnets(environment)
    demands = [_demand(environment, pool) for pool in environment.aws.pools]
    endpoints = sum(endpoint.kind == "interface" for endpoint in endpoint_services(environment))
    files = storage_addresses(environment)
    own_pods = environment.aws.kubernetes is not None and environment.aws.kubernetes.pod_cidr is not None
    names = resolver_addresses(environment)
    return tuple(
        _budget(environment, plan, demands, endpoints + names.get(plan.zone, 0), files, own_pods) for plan in plans
    )


@dataclass(frozen=True, slots=True)
class _Demand:
    """A pool's worst case by zone: addresses of its nodes, and of their pods."""

    pool: str
    nodes: Mapping[str, int]
    pods: Mapping[str, int]
    machines: Mapping[str, int]


def _demand(environment: Environment, pool: PoolSettings) -> _Demand:
    """In each zone: as many nodes as its capacities there can give, each of the type that takes most addresses."""
    machines: dict[str, int] = {}
    widest: dict[str, int] = {}
    for terms in fallbacks(pool, environment.region):
        each = sum(nic.ip for nic in pool_interfaces(pool, terms.instance))
        for zone in terms.zones:
            most = pool.max_nodes if terms.size is None else terms.size
            machines[zone] = min(pool.max_nodes, machines.get(zone, 0) + most)
            widest[zone] = max(widest.get(zone, 0), each)
    kubernetes = environment.aws.kubernetes
    pods = kubernetes.pods_per_node if kubernetes is not None and pool.name in kubernetes.pools else 0
    return _Demand(
        pool.name,
        {zone: count * widest[zone] for zone, count in machines.items()},
        {zone: count * pods for zone, count in machines.items()},
        machines,
    )


def _budget(
    environment: Environment,
    plan: PlannedSubnet,
    demands: list[_Demand],
    endpoints: int,
    files: Mapping[str, int],
    own_pods: bool,
) -> SubnetBudget:
    private, pods = plan.tier == "private", plan.tier == "pods"
    holds_pods = pods if own_pods else private
    nodes = {demand.pool: demand.nodes.get(plan.zone, 0) if private else 0 for demand in demands}
    inside = {demand.pool: demand.pods.get(plan.zone, 0) if holds_pods else 0 for demand in demands}
    return SubnetBudget(
        zone=plan.zone,
        tier=plan.tier,
        cidr=plan.cidr,
        path=plan.path,
        addresses=plan.addresses,
        nodes=sum(nodes.values()),
        endpoints=endpoints if private else 0,
        file_systems=files.get(plan.zone, 0) if private else 0,
        pods=sum(inside.values()),
        link=int(private and environment.link is not None),
        nat=int(plan.tier == "public"),
        services=_services(environment, plan.zone) if private else 0,
        per_pool={name: nodes[name] + inside[name] for name in nodes if nodes[name] + inside[name]},
    )


def _services(environment: Environment, zone: str) -> int:
    """The reserved range in their own zone; and in each of the database's two an address, for it may stand in either."""
    services = environment.aws.services
    if services is None or zone not in services_zones(environment):
        return 0
    reserved = cloud_hosts(environment, services).reserved
    return 1 + (reserved.num_addresses if reserved is not None and zone == services.zone else 0)


def _may(first: Range, other: Range) -> bool:
    """Return whether two ranges may share addresses: a range and its part may, and so may container ranges, which never
    meet.
    """
    kinds = {first.kind, other.kind}
    if kinds == {"container"}:
        return True
    if kinds in ({"vpc", "subnet"}, {"vpc", "pods"}):
        inner, outer = (other, first) if first.kind == "vpc" else (first, other)
        return inner.cidr.subnet_of(outer.cidr)
    return False
