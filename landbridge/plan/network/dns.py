"""Names across the link: who answers for which domain, and where each site asks for the other's.

Source: Amazon Route 53 Developer Guide, "Resolving DNS queries between VPCs and your network"; the most specific domain that
a rule or a private zone names decides, so that the cluster's zone may stand below the site's domain.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from landbridge.catalog.aws.regions import regions
from landbridge.environment import DnsSettings, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.network.endpoints import Endpoint, endpoint_services
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.resource_names import shortened
from landbridge.plan.zones import pool_zones, storage_zone

DNS_PORT = 53
#: Route 53 Resolver takes no endpoint with fewer addresses.
ENDPOINT_ADDRESSES = 2
#: AWS's own prefix for logs that its services deliver: the group needs no resource policy of its own, whose size is limited.
LOG_PREFIX = "/aws/vendedlogs/landbridge"
_MAX_RULE_NAME_CHARACTERS = 64
#: By service, "" for all others: where AWS's names end, and where they end in China.
_SUFFIXES = {"": ("amazonaws.com", "amazonaws.com.cn"), "eks-auth": ("api.aws", "api.amazonwebservices.com.cn")}


class ForwardPlan(Args):
    """A domain that the VPC asks the site about. `name` is what the rule is called: Resolver takes no dots there."""

    domain: str
    name: str


class QueryLogPlan(Args):
    """CloudWatch log group of Resolver query logs."""

    group: str
    retention_days: int


class SitePlan(Args):
    """The site behind the link: where it may ask from, what it answers for, and where it is asked."""

    cidrs: tuple[str, ...]
    servers: tuple[str, ...]
    forwards: tuple[ForwardPlan, ...]


class DnsArgs(Args):
    """A private zone, and where there is a site the endpoints in both directions.

    `zones` has the availability zone of each address of an endpoint; one that stands alone is there twice.
    """

    cluster: str
    zone: str
    zones: tuple[str, ...]
    site: SitePlan | None
    logs: QueryLogPlan | None
    protect: bool
    tags: dict[str, str]


def dns_args(environment: Environment) -> DnsArgs | None:
    """Plan both directions; None where the environment asks for no names."""
    dns = environment.dns
    if dns is None:
        return None
    return DnsArgs(
        cluster=environment.name,
        zone=private_zone(environment),
        zones=endpoint_zones(environment),
        site=_site(environment, dns),
        logs=_logs(environment, dns),
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def private_zone(environment: Environment) -> str:
    """The domain of the cluster's names in AWS."""
    named = environment.dns.zone if environment.dns is not None else None
    return named or f"aws.{site_domain(environment)}"


def site_domain(environment: Environment) -> str:
    """The domain of the hosts that Landbridge configures."""
    return service_hosts(environment).domain


def endpoint_zones(environment: Environment) -> tuple[str, ...]:
    """Return the zones of the Resolver endpoints' addresses: the first two in the file's order, so that one added later
    moves none.
    """
    named = [zone for pool in environment.aws.pools for zone in pool_zones(pool, environment.region)]
    for share in environment.storage.in_aws().values():
        named += share.zones if share.kind == "efs" else filter(None, [storage_zone(environment, share.zone)])
    endpoint_zone_names = tuple(dict.fromkeys(named))[:ENDPOINT_ADDRESSES]
    return endpoint_zone_names * ENDPOINT_ADDRESSES if len(endpoint_zone_names) == 1 else endpoint_zone_names


def resolver_addresses(environment: Environment) -> Mapping[str, int]:
    """Return the number of addresses in each zone's subnet that the endpoints of both directions take."""
    if environment.dns is None or environment.onprem is None:
        return {}
    return {zone: 2 * count for zone, count in Counter(endpoint_zones(environment)).items()}


def server_addresses(environment: Environment) -> tuple[str, ...]:
    """Return the name servers that the VPC queries for the site's names. A rule reports a host without an address."""
    dns, addresses = environment.dns, environment.host_addresses()
    if dns is not None and dns.resolvers:
        return tuple(str(address) for address in dns.resolvers)
    return tuple(addresses[host] for host in name_server_hosts(environment) if host in addresses)


def reverse_zones(cidr: IPv4Network) -> tuple[str, ...]:
    """The domains under in-addr.arpa that hold the names of a range and of no other: several where it ends inside an octet."""
    octet_prefix = max(-(-cidr.prefixlen // 8) * 8, 8)
    return tuple(_reverse(part) for part in cidr.subnets(new_prefix=octet_prefix))


def site_domains(environment: Environment) -> tuple[str, ...]:
    """The domains that the site answers for."""
    dns, onprem = environment.dns, environment.onprem
    if dns is None or onprem is None:
        return ()
    return tuple(dict.fromkeys((onprem.domain, *dns.forward, *(reverse_zones(onprem.cidr) if dns.reverse else ()))))


def aws_domains(environment: Environment) -> tuple[str, ...]:
    """The domains that the site has to ask AWS's end for: the zone, and names whose answer differs inside the VPC."""
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
    """The name under which a service answers in a region: the parts of the endpoint's, turned around.

    Source: AWS PrivateLink guide, private DNS names of interface endpoints; Amazon EKS User Guide for eks-auth.
    """
    region_facts = regions().get(region)
    china = region_facts is not None and region_facts.partition == "aws-cn"
    suffix = _SUFFIXES["eks-auth" if service == "eks-auth" else ""][china]
    return ".".join([*reversed(service.split(".")), region, suffix])


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
