"""Rules about additional sites of the link."""

from collections.abc import Iterator
from ipaddress import IPv4Address
from itertools import chain

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.link import OWN_KEYS, connections
from landbridge.rules.registry import rule
from landbridge.rules.site.hosts import hosts

_SITES: DataPath = ("link", "sites")
_MEET: DataPath = ("link", "sites_meet")


@rule
def site_name(environment: Environment) -> Iterator[Finding]:
    """A site's name is not reserved by the link: AWS resources are named after it.

    Source: components/link.py, where two resources would have one name.
    """
    for name in environment.link.sites if environment.link is not None else ():
        if name in (*chain(*OWN_KEYS), "vpc"):
            yield error((*_SITES, name), f"the site name {name} is reserved", fix="write another name")


@rule
def site_gateway(environment: Environment) -> Iterator[Finding]:
    """Each site's gateway is a separate host with an address inside the site.

    Source: the Ansible inventory, which has each host once; RFC 950.
    """
    paths_by_host = {host.name: host.path for host in hosts(environment)}
    for name, site in environment.link.sites.items() if environment.link is not None else ():
        site_path: DataPath = (*_SITES, name)
        if site.gateway in paths_by_host:
            message = f"the host name {site.gateway} is used by another host"
            yield error((*site_path, "gateway"), message, related=(paths_by_host[site.gateway],))
        paths_by_host[site.gateway] = (*site_path, "gateway")
        if site.address not in site.cidr:
            message = f"the gateway address {site.address} is outside the site's range {site.cidr}"
            fix = "write an address inside the range"
            yield error((*site_path, "address"), message, fix=fix, related=((*site_path, "cidr"),))


@rule
def shared_gateway(environment: Environment) -> Iterator[Finding]:
    """Each VPN connection has its own gateway address: AWS returns the existing customer gateway for the same address.

    Source: EC2 CreateCustomerGateway: identical requests return the existing one.
    """
    paths_by_address: dict[IPv4Address, DataPath] = {}
    for connection in connections(environment):
        path = connection.address_path
        first = paths_by_address.setdefault(connection.gateway_address, path)
        if first != path:
            message = f"{connection.gateway_address} is the gateway address of another VPN connection"
            yield error(path, message, related=(first,))


@rule
def sites_meet(environment: Environment) -> Iterator[Finding]:
    """Sites that reach one another have different AS numbers: with equal ones, BGP drops routes as loops.

    Source: RFC 4271, section 9.1.2.
    """
    link = environment.link
    if link is None or not link.sites_meet:
        return
    if not link.sites:
        message = "sites_meet has no effect: there are no additional sites"
        yield warning(_MEET, message, fix="add link.sites, or remove sites_meet", related=(_SITES,))
    paths_by_number: dict[int, DataPath] = {link.onprem_asn: ("link", "onprem_asn")}
    for name, site in link.sites.items():
        path: DataPath = (*_SITES, name, "asn")
        first = paths_by_number.setdefault(site.asn, path)
        if first != path:
            message = f"the AS number {site.asn} is used by another site, so the two do not accept each other's routes"
            yield error(path, message, fix="number the sites 65010, 65011, ...", related=(first, _MEET))
