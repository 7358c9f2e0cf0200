"""Rules about two gateways of the site."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.link import OWN_KEYS, TUNNELS_OF_A_CONNECTION, first_connections
from landbridge.rules.registry import rule
from landbridge.rules.site.hosts import hosts

_GATEWAY: DataPath = ("onprem", "services", "gateway")
_SHARED: DataPath = ("link", "shared_address")


@rule
def gateway_addresses(environment: Environment) -> Iterator[Finding]:
    """Each gateway of the site has an address towards AWS, and a linked site has one gateway.

    AWS needs a customer gateway for each device.
    Source: Site-to-Site VPN User Guide, "Redundant Site-to-Site VPN connections"; landbridge/plan/network/link.py.
    """
    site = environment.onprem
    for connection in first_connections(environment):
        is_own = connection.key in OWN_KEYS[0]
        gateways = len(site.services.gateways) if site is not None and is_own else 1
        addresses = len(connection.tunnels.gateway_addresses)
        if addresses != gateways:
            owner = "the site" if is_own else f"the site {connection.key}"
            message = f"{owner} has {gateways} gateway{'s' if gateways > 1 else ''}, and {addresses} gateway address{'es' if addresses > 1 else ''}"
            fix = "write one address for each gateway, in the same order"
            related = (_GATEWAY,) if is_own else ()
            yield error((*connection.path, "gateway_address"), message, fix=fix, related=related)
        ranges, tunnels = connection.tunnels.inside_cidrs or (), TUNNELS_OF_A_CONNECTION * addresses
        if addresses == gateways and len(ranges) not in (0, TUNNELS_OF_A_CONNECTION, tunnels):
            message = f"{len(ranges)} inside ranges for {tunnels} tunnels"
            path: DataPath = (*connection.path, "inside_cidrs")
            yield error(path, message, fix="write two ranges for each gateway, in the same order")


@rule
def two_gateway_hosts(environment: Environment) -> Iterator[Finding]:
    """Two gateways are two hosts.

    Source: RFC 9568, section 1: a shared address needs another device that takes it.
    """
    gateways = environment.onprem.services.gateways if environment.onprem is not None else ()
    if len(gateways) != len(set(gateways)):
        yield error((*_GATEWAY, 1), f"the gateway {gateways[1]} is repeated", fix="write another host, or one gateway")


@rule
def gateway_next_hop(environment: Environment) -> Iterator[Finding]:
    """The site's hosts have a next hop that changes with the gateway: a shared address, or a router with BGP.

    With the address of one gateway as their next hop, they lose AWS together with that gateway.
    Source: RFC 9568, section 1.
    """
    link, site = environment.link, environment.onprem
    if link is None or site is None:
        return
    is_pair = len(site.services.gateways) > 1 and bool(first_connections(environment))
    if not is_pair:
        for path, is_written in (
            (_SHARED, link.shared_address is not None),
            (("link", "second_gateway"), "second_gateway" in link.model_fields_set),
        ):
            if is_written:
                message = f"{path[-1]} has no effect: the site has one gateway with tunnels"
                yield warning(path, message, fix="remove it, or add a gateway", related=(_GATEWAY,))
    elif link.shared_address is None and link.router is None:
        message = "the site has two gateways, and its hosts no next hop that both can be"
        fix = "write shared_address, a free address of the site, or router, the site's router with BGP"
        yield error(_SHARED[:1], message, fix=fix, related=(_GATEWAY, _SHARED, ("link", "router")))


@rule
def shared_gateway_address(environment: Environment) -> Iterator[Finding]:
    """The shared address of two gateways is in the site's range, and no host's or router's.

    Source: RFC 9568, section 8.3.1: an address that a router owns always stays with it.
    """
    link, site = environment.link, environment.onprem
    if link is None or site is None or link.shared_address is None:
        return
    address, related = link.shared_address, [("onprem", "cidr")]
    owner_host = next((host for host in hosts(environment) if host.address == address), None)
    if address not in site.cidr or address in (site.cidr.network_address, site.cidr.broadcast_address):
        message, fix = (
            f"the shared address {address} is not the address of a host in {site.cidr}",
            "write a free address of it",
        )
        yield error(_SHARED, message, fix=fix, related=tuple(related))
    elif owner_host is not None:
        message = f"the shared address {address} is {owner_host.name}'s"
        yield error(
            _SHARED, message, fix="write a free address of the site", related=(owner_host.path, *owner_host.related)
        )
    elif address == link.router:
        message = f"the shared address {address} is the router's"
        yield error(_SHARED, message, fix="write a free address of the site", related=(("link", "router"),))
