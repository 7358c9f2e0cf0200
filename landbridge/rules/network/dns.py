"""Rules about DNS between the sites."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.dns import (
    ENDPOINT_ADDRESSES,
    endpoint_zones,
    private_zone,
    resolver_range,
    site_domain,
    site_domains,
)
from landbridge.plan.network.dns_records import alias
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.network.subnets import subnets
from landbridge.rules.environment_paths import POOL_ZONES
from landbridge.rules.registry import rule

_DNS: DataPath = ("dns",)
#: Domains that the VPC resolver answers: if they are forwarded, names of AWS services do not resolve.
_AWS = ("amazonaws.com", "amazonaws.com.cn", "api.aws", "compute.internal", "ec2.internal")


@rule
def dns_zone(environment: Environment) -> Iterator[Finding]:
    """The private hosted zone does not contain a domain of the site or of AWS.

    A Resolver rule for the same name has priority over the hosted zone, which would never answer.
    Source: Amazon Route 53 Developer Guide, "Considerations when working with a private hosted zone".
    """
    dns = environment.dns
    if dns is None:
        return
    zone, path = private_zone(environment), (*_DNS, "zone") if dns.zone is not None else _DNS
    others = (site_domain(environment), *site_domains(environment))
    hidden_domain = next((other for other in others if other == zone or other.endswith(f".{zone}")), None)
    if hidden_domain is not None:
        message = f"the hosted zone {zone} hides {hidden_domain}, a domain of the site"
        related: tuple[DataPath, ...] = (("onprem", "domain"), (*_DNS, "forward"))
        yield error(path, message, fix=f"use a subdomain, such as aws.{hidden_domain}", related=related)
    elif (aws_domain := _inside(zone, _AWS)) is not None:
        yield error(path, f"the VPC resolver answers for {aws_domain}", fix="use a subdomain of your own domain")


@rule
def dns_names(environment: Environment) -> Iterator[Finding]:
    """Each name in the hosted zone is used once: file systems and services in AWS share the zone.

    Source: RFC 1034, section 3.6.2: a name with a CNAME record has no other record.
    """
    if environment.dns is None:
        return
    hosts = service_hosts(environment)
    paths_by_name: dict[str, DataPath] = dict.fromkeys(hosts.addresses, hosts.path) if hosts.site == "aws" else {}
    for key in environment.storage.in_aws():
        name, path = alias(key[-1]), ("storage", *key)
        if name in paths_by_name:
            message = f"{name}.{private_zone(environment)} is the name of two records"
            yield error(path, message, fix="rename the file system", related=(paths_by_name[name], _DNS))
        paths_by_name.setdefault(name, path)


@rule
def dns_forward(environment: Environment) -> Iterator[Finding]:
    """Forwarded domains are domains of the site: not of AWS, not inside the hosted zone, and each once.

    Source: Amazon Route 53 Developer Guide, "Values that you specify when you create or edit rules".
    """
    dns = environment.dns
    if dns is None:
        return
    seen = {site_domain(environment)}
    for index, domain in enumerate(dns.forward):
        path: DataPath = (*_DNS, "forward", index)
        aws_domain = next(
            (reserved for reserved in _AWS if _inside(domain, (reserved,)) or _inside(reserved, (domain,))), None
        )
        if aws_domain is not None:
            message = f"names of {aws_domain} would be forwarded to the site, and the VPC resolver answers them"
            yield error(path, message, fix="remove it")
        elif _inside(domain, (private_zone(environment),)):
            message = f"{domain} is inside the hosted zone of the cluster"
            yield error(path, message, fix="remove it", related=((*_DNS, "zone"),))
        elif domain in seen:
            message = f"{domain} is already forwarded"
            yield warning(path, message, fix="remove it")
        seen.add(domain)


@rule
def dns_servers(environment: Environment) -> Iterator[Finding]:
    """A name server is a configured host with an address; with dns.resolvers, none are configured.

    Source: Amazon Route 53 Developer Guide, "Forwarding outbound DNS queries to your network".
    """
    dns = environment.dns
    if dns is None:
        return
    if environment.onprem is None:
        keys = [key for key in ("servers", "resolvers", "forward", "upstream") if getattr(dns, key)]
        for key in keys[:1]:
            message = f"{key} needs an on-prem site, and there is none"
            yield error((*_DNS, key), message, fix="remove it")
        return
    if dns.servers and dns.resolvers:
        message = "dns.servers has no effect: the site has its own name servers in dns.resolvers"
        yield error((*_DNS, "servers"), message, fix="remove one of the two", related=((*_DNS, "resolvers"),))
        return
    if dns.upstream and dns.resolvers:
        message = "dns.upstream has no effect: dns.resolvers are not configured by Landbridge"
        yield error((*_DNS, "upstream"), message, fix="remove it", related=((*_DNS, "resolvers"),))
    addresses = environment.host_addresses()
    for index, host in enumerate(dns.servers):
        path: DataPath = (*_DNS, "servers", index)
        if host not in addresses:
            fix = did_you_mean(host, addresses) or "add it under onprem.addresses"
            yield error(path, f"the name server {host} has no address", fix=fix)
        elif host not in _configured(environment):
            message = f"the name server {host} is not a host that Landbridge configures"
            yield error(path, message, fix=f"write a service host, such as {environment.onprem.services.gateways[0]}")
        elif host in dns.servers[:index]:
            yield error(path, f"the name server {host} is repeated", fix="remove it")


@rule
def dns_reach(environment: Environment) -> Iterator[Finding]:
    """The site's name servers are in a range that the link routes.

    Source: Amazon Route 53 Developer Guide, "Forwarding outbound DNS queries to your network": a connection to the
    target.
    """
    dns, link = environment.dns, environment.link
    if dns is None or environment.onprem is None:
        return
    ranges = [environment.onprem.cidr, *(site.cidr for site in (link.sites.values() if link is not None else ()))]
    for index, address in enumerate(dns.resolvers):
        if not any(address in cidr for cidr in ranges):
            message = f"the name server {address} is in no range that the link routes"
            path: DataPath = (*_DNS, "resolvers", index)
            related: tuple[DataPath, ...] = (("onprem", "cidr"), ("link", "sites"))
            yield warning(path, message, fix="use an address of the site", related=related)


@rule(public_aws=True)
def dns_one_server(environment: Environment) -> Iterator[Finding]:
    """There are two name servers: one answers while the other is updated.

    Source: RFC 2182, section 4; Amazon Route 53 Developer Guide, "Best practices for Resolver".
    """
    dns = environment.dns
    if dns is None or environment.onprem is None:
        return
    key = "resolvers" if dns.resolvers else "servers"
    count = len(set(dns.resolvers or name_server_hosts(environment)))
    if count == 1:
        message = "nodes in AWS have one name server for the site: without it, no name resolves"
        path: DataPath = (*_DNS, key) if getattr(dns, key) else _DNS
        yield warning(path, message, fix="write a second one")


@rule
def dns_without_zone(environment: Environment) -> Iterator[Finding]:
    """Resolver endpoints need subnets, and subnets follow from the zones of pools and file systems.

    Source: Amazon Route 53 Developer Guide, "Resolver endpoint scaling".
    """
    if environment.dns is not None and environment.onprem is not None and not endpoint_zones(environment):
        message = "the Resolver endpoints have no subnet: no pool or file system names a zone"
        yield error(_DNS, message, fix="add a pool", related=POOL_ZONES)


@rule(public_aws=True)
def dns_one_zone(environment: Environment) -> Iterator[Finding]:
    """Resolver endpoints have addresses in two zones, so that names are resolved when one zone fails.

    Source: Amazon Route 53 Developer Guide, "Resolver endpoint scaling" and "High availability for Resolver endpoints".
    """
    if environment.dns is None or environment.onprem is None:
        return
    zones = endpoint_zones(environment)
    if zones and len(set(zones)) < ENDPOINT_ADDRESSES:
        message = f"all addresses of the Resolver endpoints are in {zones[0]}"
        fix = "add a pool or a file system in a second zone"
        yield warning(_DNS, message, fix=fix, related=POOL_ZONES)


@rule
def dns_addresses(environment: Environment) -> Iterator[Finding]:
    """Resolver endpoints in one zone have two planned addresses each in its subnet, behind the range of service hosts.

    Without planned addresses the provider takes two addresses in one subnet for one, and Resolver refuses an endpoint with one.
    Source: terraform-provider-aws issues 43724 and 28233; landbridge/plan/network/reserved_ranges.py.
    """
    zones = set(endpoint_zones(environment))
    if environment.dns is None or environment.onprem is None or len(zones) != 1:
        return
    (zone,) = zones
    if not any(subnet.tier == "private" and subnet.zone == zone for subnet in subnets(environment)):
        return
    if resolver_range(environment, zone) is None:
        message = f"the subnet of {zone} is too small for the Resolver endpoints' addresses: it needs a /26 or larger"
        related: tuple[DataPath, ...] = (*POOL_ZONES, ("aws", "cidr"), ("aws", "vpc"), ("aws", "subnets"))
        yield error(_DNS, message, fix="widen the zone's subnet, or add a pool in a second zone", related=related)


@rule
def dns_vpc_attributes(environment: Environment) -> Iterator[Finding]:
    """DNS support of the VPC is on: only the VPC resolver answers from hosted zones and Resolver rules.

    Source: Amazon VPC User Guide, "DNS attributes for your VPC".
    """
    vpc = environment.aws.vpc
    if environment.dns is not None and vpc is not None and not vpc.dns_support:
        message = "the VPC's DNS attributes are off, so names of the hosted zone and of the site do not resolve"
        related: tuple[DataPath, ...] = (("aws", "vpc", "dns_support"),)
        yield error(_DNS, message, fix="turn them on in the VPC, or remove dns", related=related)


def _configured(environment: Environment) -> frozenset[str]:
    onprem = environment.onprem
    return frozenset(onprem.services.hosts()) if onprem is not None else frozenset()


def _inside(domain: str, others: tuple[str, ...]) -> str | None:
    """Return the domain that `domain` equals or is below; None for no match."""
    return next((other for other in others if domain == other or domain.endswith(f".{other}")), None)
