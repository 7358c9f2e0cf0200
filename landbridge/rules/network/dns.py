"""Rules about names across the link."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.dns import ADDRESSES, endpoint_zones, private_zone, site_domain, site_domains
from landbridge.plan.network.dns_records import alias
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.rules.environment_paths import POOL_ZONES
from landbridge.rules.registry import rule

_DNS: DataPath = ("dns",)
#: What AWS answers for inside every VPC: asked elsewhere, nodes find no service of AWS any more.
_AWS = ("amazonaws.com", "amazonaws.com.cn", "api.aws", "compute.internal", "ec2.internal")


@rule
def dns_zone(environment: Environment) -> Iterator[Finding]:
    """The cluster's zone is none of the domains that the site answers for, nor above one, nor AWS's own.

    A rule that forwards a zone's name to the site wins over the zone, so that nobody would ever be answered from it.
    Source: Amazon Route 53 Developer Guide, "Considerations when working with a private hosted zone".
    """
    dns = environment.dns
    if dns is None:
        return
    zone, path = private_zone(environment), (*_DNS, "zone") if dns.zone is not None else _DNS
    others = (site_domain(environment), *site_domains(environment))
    taken = next((one for one in others if one == zone or one.endswith(f".{zone}")), None)
    if taken is not None:
        message = f"the zone {zone} would hide {taken}, which the site answers for"
        related: tuple[DataPath, ...] = (("onprem", "domain"), (*_DNS, "forward"))
        yield error(path, message, fix=f"use a name below it, such as aws.{taken}", related=related)
    elif (own := _inside(zone, _AWS)) is not None:
        yield error(path, f"AWS answers for {own} in every VPC", fix="use a part of your own domain")


@rule
def dns_names(environment: Environment) -> Iterator[Finding]:
    """Each name in the zone stands for one thing: file systems and services in AWS share them.

    Source: RFC 1034, section 3.6.2: where a name stands for another one, nothing else bears it.
    """
    if environment.dns is None:
        return
    served = service_hosts(environment)
    taken: dict[str, DataPath] = dict.fromkeys(served.addresses, served.path) if served.site == "aws" else {}
    for key in environment.storage.in_aws():
        name, path = alias(key[-1]), ("storage", *key)
        if name in taken:
            message = f"{name}.{private_zone(environment)} would be two things"
            yield error(path, message, fix="use another name for it", related=(taken[name], _DNS))
        taken.setdefault(name, path)


@rule
def dns_forward(environment: Environment) -> Iterator[Finding]:
    """What is forwarded to the site is the site's: not AWS's own names, not the cluster's zone, and each domain once.

    Source: Amazon Route 53 Developer Guide, "Values that you specify when you create or edit rules".
    """
    dns = environment.dns
    if dns is None:
        return
    seen = {site_domain(environment)}
    for index, domain in enumerate(dns.forward):
        path: DataPath = (*_DNS, "forward", index)
        own = next((one for one in _AWS if _inside(domain, (one,)) or _inside(one, (domain,))), None)
        if own is not None:
            message = f"nodes would ask the site for names of {own}, which AWS answers inside the VPC"
            yield error(path, message, fix="leave it out")
        elif _inside(domain, (private_zone(environment),)):
            message = f"{domain} is inside the cluster's own zone"
            yield error(path, message, fix="leave it out", related=((*_DNS, "zone"),))
        elif domain in seen:
            message = f"{domain} is forwarded already"
            yield warning(path, message, fix="leave it out")
        seen.add(domain)


@rule
def dns_servers(environment: Environment) -> Iterator[Finding]:
    """A name server is a host of the site with an address; where the site has its own, no others are made.

    Source: Amazon Route 53 Developer Guide, "Forwarding outbound DNS queries to your network".
    """
    dns = environment.dns
    if dns is None:
        return
    if environment.onprem is None:
        keys = [key for key in ("servers", "resolvers", "forward", "upstream") if getattr(dns, key)]
        for key in keys[:1]:
            message = "there is no site whose names could be asked for"
            yield error((*_DNS, key), message, fix="leave it out until there is one")
        return
    if dns.servers and dns.resolvers:
        message = "the site has name servers of its own, so none are made of these hosts"
        yield error((*_DNS, "servers"), message, fix="name either", related=((*_DNS, "resolvers"),))
        return
    if dns.upstream and dns.resolvers:
        message = "whom the site's own name servers ask is their owner's to say"
        yield error((*_DNS, "upstream"), message, fix="leave it out", related=((*_DNS, "resolvers"),))
    known = environment.host_addresses()
    for index, host in enumerate(dns.servers):
        path: DataPath = (*_DNS, "servers", index)
        if host not in known:
            fix = did_you_mean(host, known) or "add it under onprem.addresses"
            yield error(path, f"the name server {host} has no address", fix=fix)
        elif host not in _configured(environment):
            message = f"{host} is no host that Landbridge configures"
            yield error(path, message, fix=f"such as {environment.onprem.services.gateway}")
        elif host in dns.servers[:index]:
            yield error(path, f"{host} is named twice", fix="leave it out")


@rule
def dns_reach(environment: Environment) -> Iterator[Finding]:
    """The site's name servers are where the link leads: to other addresses the VPC has no way through it.

    Source: Amazon Route 53 Developer Guide, "Forwarding outbound DNS queries to your network": a connection to the target.
    """
    dns, link = environment.dns, environment.link
    if dns is None or environment.onprem is None:
        return
    ranges = [environment.onprem.cidr, *(site.cidr for site in (link.sites.values() if link is not None else ()))]
    for index, address in enumerate(dns.resolvers):
        if not any(address in cidr for cidr in ranges):
            message = f"{address} is in no range that the link leads to: nodes' questions would not get there"
            path: DataPath = (*_DNS, "resolvers", index)
            related: tuple[DataPath, ...] = (("onprem", "cidr"), ("link", "sites"))
            yield warning(path, message, fix="use an address of the site", related=related)


@rule(public_aws=True)
def dns_one_server(environment: Environment) -> Iterator[Finding]:
    """Two name servers answer: while one is being updated, the other does.

    Source: RFC 2182, section 4; Amazon Route 53 Developer Guide, "Best practices for Resolver".
    """
    dns = environment.dns
    if dns is None or environment.onprem is None:
        return
    key = "resolvers" if dns.resolvers else "servers"
    count = len(set(dns.resolvers or name_server_hosts(environment)))
    if count == 1:
        message = "nodes in AWS ask one name server about the site: with it, every name is gone"
        path: DataPath = (*_DNS, key) if getattr(dns, key) else _DNS
        yield warning(path, message, fix="name a second")


@rule
def dns_without_zone(environment: Environment) -> Iterator[Finding]:
    """Resolver endpoints need subnets, and subnets follow from the zones of pools and file systems.

    Source: Amazon Route 53 Developer Guide, "Resolver endpoint scaling".
    """
    if environment.dns is not None and environment.onprem is not None and not endpoint_zones(environment):
        message = "no pool or file system names a zone for the Resolver endpoints"
        yield error(_DNS, message, fix="add a pool first", related=POOL_ZONES)


@rule(public_aws=True)
def dns_one_zone(environment: Environment) -> Iterator[Finding]:
    """Resolver endpoints have addresses in two zones, so that names are resolved when one zone fails.

    Source: Amazon Route 53 Developer Guide, "Resolver endpoint scaling" and "High availability for Resolver endpoints".
    """
    if environment.dns is None or environment.onprem is None:
        return
    zones = endpoint_zones(environment)
    if zones and len(set(zones)) < ADDRESSES:
        message = f"all addresses of the endpoints are in {zones[0]}"
        fix = "add a pool or a file system in a second zone"
        yield warning(_DNS, message, fix=fix, related=POOL_ZONES)


@rule
def dns_vpc_attributes(environment: Environment) -> Iterator[Finding]:
    """The VPC's own resolver is on: a private zone and rules are answered by it and by nothing else.

    Source: Amazon VPC User Guide, "DNS attributes for your VPC".
    """
    vpc = environment.aws.vpc
    if environment.dns is not None and vpc is not None and not vpc.dns_support:
        message = "the VPC's DNS attributes are off: neither the zone nor the site's names would be answered in it"
        related: tuple[DataPath, ...] = (("aws", "vpc", "dns_support"),)
        yield error(_DNS, message, fix="turn them on in the VPC, or leave dns out", related=related)


def _configured(environment: Environment) -> frozenset[str]:
    onprem = environment.onprem
    return frozenset(onprem.services.hosts()) if onprem is not None else frozenset()


def _inside(domain: str, others: tuple[str, ...]) -> str | None:
    """Which of the others a domain is, or is below."""
    return next((one for one in others if domain == one or domain.endswith(f".{one}")), None)
