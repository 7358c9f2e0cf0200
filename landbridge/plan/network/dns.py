"""DNS across the link: the domains of each site, and the name servers that the other site queries for them.

Source: Amazon Route 53 Developer Guide, "Resolving DNS queries between VPCs and your network"; the most specific domain
of the rules and private zones is used, so that the cluster's zone may be a subdomain of the site's domain.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Literal

from landbridge.catalog.aws.regions import regions
from landbridge.environment import DnsSettings, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.network.endpoints import Endpoint, endpoint_services
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.network.reserved_ranges import RESOLVER, reserved_range
from landbridge.plan.resource_names import shortened
from landbridge.plan.zones import pool_zones, storage_zone

DNS_PORT = 53
#: Minimum number of addresses of a Route 53 Resolver endpoint.
ENDPOINT_ADDRESSES = 2
#: AWS's prefix for log groups of its services: with it, a log group needs no entry in a resource policy, whose size is
#: limited.
LOG_PREFIX = "/aws/vendedlogs/landbridge"
_MAX_RULE_NAME_CHARACTERS = 64
#: DNS suffixes of AWS endpoints: public partition, and China.
_SUFFIXES = ("amazonaws.com", "amazonaws.com.cn")


class ForwardPlan(Args):
    """Domain whose queries the VPC forwards to the site. `name` is the Resolver rule's name, which cannot
    contain dots.
    """

    domain: str
    name: str


class QueryLogPlan(Args):
    """CloudWatch log group of Resolver query logs."""

    group: str
    retention_days: int


class SitePlan(Args):
    """Site behind the link: source ranges of its queries, its name servers, and the domains that they answer."""

    cidrs: tuple[str, ...]
    servers: tuple[str, ...]
    forwards: tuple[ForwardPlan, ...]


class EndpointAddress(Args):
    """Address of a Resolver endpoint in a zone's private subnet. Without `ip`, AWS chooses one."""

    zone: str
    ip: str | None = None


class DnsArgs(Args):
    """Private hosted zone, and with a site Resolver endpoints in both directions, with the addresses of each."""

    cluster: str
    zone: str
    inbound: tuple[EndpointAddress, ...]
    outbound: tuple[EndpointAddress, ...]
    site: SitePlan | None
    logs: QueryLogPlan | None
    protect: bool
    tags: dict[str, str]


def dns_args(environment: Environment) -> DnsArgs | None:
    """Plan DNS in both directions; None if the environment has no `dns`."""
    dns = environment.dns
    if dns is None:
        return None
    return DnsArgs(
        cluster=environment.name,
        zone=private_zone(environment),
        inbound=endpoint_addresses(environment, "inbound"),
        outbound=endpoint_addresses(environment, "outbound"),
        site=_site(environment, dns),
        logs=_logs(environment, dns),
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def private_zone(environment: Environment) -> str:
    """Return the domain of the cluster's private hosted zone."""
    configured = environment.dns.zone if environment.dns is not None else None
    return configured or f"aws.{site_domain(environment)}"


def site_domain(environment: Environment) -> str:
    """Return the domain of the hosts that Landbridge configures."""
    return service_hosts(environment).domain


def endpoint_zones(environment: Environment) -> tuple[str, ...]:
    """Return the zones of the Resolver endpoints' addresses: the first two in the file's order, so that a later zone
    changes none.
    """
    candidates = [zone for pool in environment.aws.pools for zone in pool_zones(pool, environment.region)]
    for share in environment.storage.in_aws().values():
        candidates += share.zones if share.kind == "efs" else filter(None, [storage_zone(environment, share.zone)])
    endpoint_zone_names = tuple(dict.fromkeys(candidates))[:ENDPOINT_ADDRESSES]
    return endpoint_zone_names * ENDPOINT_ADDRESSES if len(endpoint_zone_names) == 1 else endpoint_zone_names


def resolver_range(environment: Environment, zone: str) -> IPv4Network | None:
    """Return the range of a zone's private subnet that is reserved for the endpoints' planned addresses.

    None in an existing VPC with two zones: its free addresses are not known, and AWS chooses one in each subnet. Two addresses in
    one subnet must be planned: the provider identifies an address by its subnet and IP, and drops the second of two equal ones.
    Source: terraform-provider-aws issues 43724 and 28233; read 2026-11-25.
    """
    zones = endpoint_zones(environment)
    if environment.dns is None or environment.onprem is None or zone not in zones:
        return None
    if environment.aws.vpc is not None and len(set(zones)) == ENDPOINT_ADDRESSES:
        return None
    return reserved_range(environment, zone, RESOLVER)


def endpoint_addresses(
    environment: Environment, direction: Literal["inbound", "outbound"]
) -> tuple[EndpointAddress, ...]:
    """Return the addresses of one Resolver endpoint. They depend on zone, place and direction only, so that no other setting
    moves them.
    """
    first = 0 if direction == "inbound" else ENDPOINT_ADDRESSES
    planned = []
    for index, zone in enumerate(endpoint_zones(environment)):
        cidr = resolver_range(environment, zone)
        planned.append(EndpointAddress(zone=zone, ip=str(cidr[first + index]) if cidr is not None else None))
    return tuple(planned)


def resolver_addresses(environment: Environment) -> Mapping[str, int]:
    """Return the number of addresses in each zone's subnet that the endpoints of both directions take or reserve."""
    if environment.dns is None or environment.onprem is None:
        return {}
    ranges = {zone: resolver_range(environment, zone) for zone in endpoint_zones(environment)}
    counts = Counter(endpoint_zones(environment))
    return {
        zone: 2 * counts[zone] if cidr is None else cidr.num_addresses  # both directions
        for zone, cidr in ranges.items()
    }


def server_addresses(environment: Environment) -> tuple[str, ...]:
    """Return the name servers that the VPC queries for the site's names. A rule reports a host without an address."""
    dns, addresses = environment.dns, environment.host_addresses()
    if dns is not None and dns.resolvers:
        return tuple(str(address) for address in dns.resolvers)
    return tuple(addresses[host] for host in name_server_hosts(environment) if host in addresses)


def reverse_zones(cidr: IPv4Network) -> tuple[str, ...]:
    """Return the in-addr.arpa domains of exactly this range: several if its prefix ends inside an octet."""
    octet_prefix = max(-(-cidr.prefixlen // 8) * 8, 8)
    return tuple(_reverse(subnet) for subnet in cidr.subnets(new_prefix=octet_prefix))


def site_domains(environment: Environment) -> tuple[str, ...]:
    """Return the domains that the site's name servers answer."""
    dns, onprem = environment.dns, environment.onprem
    if dns is None or onprem is None:
        return ()
    return tuple(dict.fromkeys((onprem.domain, *dns.forward, *(reverse_zones(onprem.cidr) if dns.reverse else ()))))


def aws_domains(environment: Environment) -> tuple[str, ...]:
    """Return the domains that the site forwards to AWS: the hosted zone, and names whose answer differs
    inside the VPC.
    """
    dns, aws = environment.dns, environment.aws
    if dns is None:
        return ()
    domains = [private_zone(environment)]
    domains += [endpoint_domain(endpoint.service, environment.region) for endpoint in _interfaces(environment)]
    kinds = {share.kind for share in environment.storage.in_aws().values()}
    services = {"efs" if kind == "efs" else "fsx" for kind in kinds}
    domains += [endpoint_domain(service, environment.region) for service in sorted(services)]
    if dns.reverse:
        domains += [name for cidr in (aws.cidr, *aws.secondary_cidrs) for name in reverse_zones(cidr)]
    return tuple(dict.fromkeys(domains))


def endpoint_domain(service: str, region: str) -> str:
    """Return the DNS name of a service in a region: the parts of the endpoint's service name in reverse order.

    Source: AWS PrivateLink guide, private DNS names of interface endpoints.
    """
    region_facts = regions().get(region)
    is_china = region_facts is not None and region_facts.partition == "aws-cn"
    return ".".join([*reversed(service.split(".")), region, _SUFFIXES[is_china]])


def _interfaces(environment: Environment) -> Iterator[Endpoint]:
    return (endpoint for endpoint in endpoint_services(environment) if endpoint.kind == "interface")


def _site(environment: Environment, dns: DnsSettings) -> SitePlan | None:
    onprem = environment.onprem
    if onprem is None:
        return None
    return SitePlan(
        cidrs=(str(onprem.cidr),),
        servers=server_addresses(environment),
        forwards=tuple(
            ForwardPlan(domain=domain, name=_rule_name(environment, domain)) for domain in site_domains(environment)
        ),
    )


def _logs(environment: Environment, dns: DnsSettings) -> QueryLogPlan | None:
    logs = environment.aws.logs
    is_enabled = logs.flow_logs if dns.query_logs is None else dns.query_logs
    group = f"{LOG_PREFIX}/{environment.name}/dns"
    return QueryLogPlan(group=group, retention_days=logs.retention_days) if is_enabled else None


def _rule_name(environment: Environment, domain: str) -> str:
    return shortened(f"{environment.name}-{domain.replace('.', '-')}", _MAX_RULE_NAME_CHARACTERS)


def _reverse(part: IPv4Network) -> str:
    octets = str(part.network_address).split(".")[: part.prefixlen // 8]
    return ".".join([*reversed(octets), "in-addr.arpa"])
