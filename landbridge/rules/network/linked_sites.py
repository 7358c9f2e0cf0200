"""Rules about further sites that are linked to the same VPC."""

from collections.abc import Iterator
from ipaddress import IPv4Address

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.link import LINE, OWN, connections
from landbridge.rules.registry import rule
from landbridge.rules.site.hosts import hosts

_SITES: DataPath = ("link", "sites")
_MEET: DataPath = ("link", "sites_meet")


@rule
def site_name(environment: Environment) -> Iterator[Finding]:
    """A site's name is none of the link's own words, for what is made in AWS is named after it.

    Source: components/link.py, where two things would have one name.
    """
    for name in environment.link.sites if environment.link is not None else ():
        if name in (OWN, LINE, "vpc"):
            yield error((*_SITES, name), f"{name} is a word of the link's own", fix="name it after its town")


@rule
def site_gateway(environment: Environment) -> Iterator[Finding]:
    """Each site's gateway is a host of its own, inside its site.

    Source: this program's inventory, which has each host once; RFC 950.
    """
    seen = {host.name: host.path for host in hosts(environment)}
    for name, site in environment.link.sites.items() if environment.link is not None else ():
        at: DataPath = (*_SITES, name)
        if site.gateway in seen:
            message = f"{site.gateway} is another host's name already"
            yield error((*at, "gateway"), message, related=(seen[site.gateway],))
        seen[site.gateway] = (*at, "gateway")
        if site.address not in site.cidr:
            message = f"{site.address} is outside {site.cidr}"
            fix = "put the host's address in that site"
            yield error((*at, "address"), message, fix=fix, related=((*at, "cidr"),))


@rule
def shared_gateway(environment: Environment) -> Iterator[Finding]:
    """Two VPN connections end at two addresses of ours: AWS takes a second customer gateway of one address for the first.

    Source: EC2 CreateCustomerGateway: identical requests return the existing one.
    """
    seen: dict[IPv4Address, DataPath] = {}
    for own in connections(environment):
        path: DataPath = (*own.path, "gateway_address")
        first = seen.setdefault(own.tunnels.gateway_address, path)
        if first != path:
            message = f"{own.tunnels.gateway_address} is another connection's end already"
            yield error(path, message, related=(first,))


@rule
def sites_meet(environment: Environment) -> Iterator[Finding]:
    """Sites that reach one another have different AS numbers: a route that has been in one is a loop to its equal.

    Source: RFC 4271, section 9.1.2.
    """
    link = environment.link
    if link is None or not link.sites_meet:
        return
    if not link.sites:
        message = "there is no other site to meet"
        yield warning(_MEET, message, fix="add link.sites, or take this out", related=(_SITES,))
    seen: dict[int, DataPath] = {link.onprem_asn: ("link", "onprem_asn")}
    for name, site in link.sites.items():
        path: DataPath = (*_SITES, name, "asn")
        first = seen.setdefault(site.asn, path)
        if first != path:
            message = f"{site.asn} is another site's AS number too: the two never hear of one another"
            yield error(path, message, fix="number the sites 65010, 65011, ...", related=(first, _MEET))
