"""Role site_gateway: the site's ends of the tunnels, with BGP."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.link import ends_tunnels

#: Source: RFC 7296 and 3948 (IKE, ESP in UDP), RFC 4271 (BGP).
BGP_PORT, IKE_PORTS = 179, (500, 4500)
#: BGP sessions with AWS use the inside addresses of the tunnels. Source: Site-to-Site VPN User Guide, tunnel options.
_INSIDE_TUNNELS = IPv4Network("169.254.0.0/16")


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.site.link.gateway import gateway_variables

    return gateway_variables(site.environment, site.outputs)


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    """Return the variables of a second gateway, which differ from the group's."""
    from landbridge.plan.site.link.gateway import gateway_variables, own_gateways

    others = own_gateways(site.environment)[1:]
    if host.name not in others:
        return {}
    return gateway_variables(site.environment, site.outputs, 1 + others.index(host.name))


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    from landbridge.plan.site.link.gateway import linked_gateways

    environment = site.environment
    if not (ends_tunnels(environment) or linked_gateways(environment)):
        return
    # Both ends may initiate. AWS's addresses are known only once the stack is built; IKE authenticates every peer.
    yield ROLE.group, FirewallRule((), "udp", tuple(map(str, IKE_PORTS)), "IKE, and ESP behind NAT")
    yield ROLE.group, FirewallRule((), "esp", (), "ESP without NAT")
    link, pair = environment.link, site.networks(site.services.gateway_pair)
    router = [f"{link.router}/32"] if link is not None and link.router is not None else []
    why = "BGP inside the tunnels, and with the site's router"
    yield ROLE.group, tcp_rule((str(_INSIDE_TUNNELS), *router, *pair), BGP_PORT, why)
    if pair:
        # nft resolves the protocol's name only if /etc/protocols exists. Source: RFC 9568, section 5.1.1.4.
        yield ROLE.group, FirewallRule(pair, "112", (), "VRRP between the two gateways")


ROLE = HostRole(
    group="site_gateway",
    place=90,
    # Direct Connect ends at a router that Landbridge does not manage.
    members=lambda environment, served: served.gateways if ends_tunnels(environment) else (),
    beside_existing_slurm=True,
    variables={"site_gateway": _variables},
    host_variables=_host_variables,
    firewall=_firewall,
    exporters={"gateway": lambda site: site.has("site_gateway")},
)
