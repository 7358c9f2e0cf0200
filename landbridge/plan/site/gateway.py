"""Variables of the role site_gateway: our own site's gateway, and those of linked sites."""

from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Any

from landbridge.environment import DirectConnectSettings, Environment
from landbridge.environment.link import LinkedSite, Tunnels
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.link import LINE, OWN, Connection, cipher_of, connections
from landbridge.plan.other_regions import vpc_ranges
from landbridge.plan.outputs import StackOutputs, TunnelOutput

Variables = dict[str, Any]
#: File with our own tunnels' keys in the secrets folder; another site's file has a dash and its name added.
KEYS = "link_pre_shared_keys"
#: BGP local preference: BGP's default, and the value of a backup connection.
PREFERRED, BACKUP = 100, 50
#: Number of times that a backup's announcements prepend our AS number: routers prefer shorter AS paths.
PREPENDED_ASNS = 2


def keys_file(site: str) -> str:
    """Return the file of a site's tunnel pre-shared keys in the secrets folder; `onprem` is our own site."""
    return KEYS if site == OWN else f"{KEYS}-{site}"


def linked_gateways(environment: Environment) -> dict[str, tuple[str, LinkedSite]]:
    """Return the gateways of the linked sites by host: the site's name and its settings."""
    sites = environment.link.sites if environment.link is not None else {}
    return {site.gateway: (name, site) for name, site in sites.items()}


def gateway_variables(environment: Environment, outputs: StackOutputs | None) -> Variables:
    """Return the variables of our own gateway; empty if no tunnel ends at our site."""
    link, served = environment.link, service_hosts(environment)
    own_connections = [connection for connection in connections(environment) if connection.key in (LINE, OWN)]
    if link is None or served.gateway is None or not own_connections:
        return {}
    ranges = [*vpc_ranges(environment), *_others(environment, OWN)]
    variables = _common(own_connections[0].tunnels, link.onprem_asn, served.cidr, ranges)
    address = str(served.addresses[served.gateway])
    variables |= {"site_gateway_router_id": address, "site_gateway_source_address": address}
    variables["site_gateway_mtu"] = min(connection.tunnels.mtu for connection in own_connections)
    if isinstance(link, DirectConnectSettings) and link.router is not None:
        variables["site_gateway_inside_neighbors"] = [str(link.router)]
    if outputs is not None and outputs.link is not None:
        by_transport = {connection.over: connection for connection in own_connections}
        tunnels = outputs.link.tunnels
        is_direct_connect = isinstance(link, DirectConnectSettings)
        variables["site_gateway_tunnels"] = [
            _tunnel(
                number, tunnel, outputs.link.aws_asn, by_transport[tunnel.over], own_connections[0], is_direct_connect
            )
            for number, tunnel in enumerate(tunnels, start=1)
        ]
    return variables


def linked_gateway_variables(environment: Environment, name: str, outputs: StackOutputs | None) -> Variables:
    """Return the variables of a linked site's gateway."""
    connection = next(candidate for candidate in connections(environment) if candidate.key == name)
    site = connection.tunnels
    assert isinstance(site, LinkedSite)
    variables = _common(site, site.asn, site.cidr, [*vpc_ranges(environment), *_others(environment, name)])
    variables |= {
        "site_gateway_router_id": str(site.address),
        "site_gateway_source_address": str(site.address),
        "site_gateway_mtu": site.mtu,
        "landbridge_link_keys": keys_file(name),
    }
    if outputs is not None and outputs.link is not None and name in outputs.link.sites:
        variables["site_gateway_tunnels"] = [
            _tunnel(number, tunnel, outputs.link.aws_asn, connection, connection, False)
            for number, tunnel in enumerate(outputs.link.sites[name].tunnels, start=1)
        ]
    return variables


def _others(environment: Environment, name: str) -> list[IPv4Network]:
    """Return the networks of the sites that this site reaches through AWS."""
    link, onprem = environment.link, environment.onprem
    if link is None or onprem is None or not link.sites_meet:
        return []
    cidrs = {OWN: onprem.cidr, **{key: site.cidr for key, site in link.sites.items()}}
    return [cidr for key, cidr in cidrs.items() if key != name]


def _common(tunnels: Tunnels, asn: int, own_cidr: IPv4Network, accepted_cidrs: Sequence[IPv4Network]) -> Variables:
    cipher = cipher_of(tunnels)
    return {
        "site_gateway_datapath": tunnels.datapath,
        "site_gateway_local_address": str(tunnels.gateway_address),
        "site_gateway_local_asn": asn,
        "site_gateway_advertise": [str(own_cidr)],
        "site_gateway_accept": [str(cidr) for cidr in accepted_cidrs],
        "site_gateway_ike_proposals": cipher.ike_proposal,
        "site_gateway_esp_proposals": cipher.esp_proposal,
    }


def _tunnel(
    number: int, tunnel: TunnelOutput, asn: int, connection: Connection, primary: Connection, has_direct_connect: bool
) -> Variables:
    variables: Variables = {
        "name": f"aws{number}",
        "remote_address": tunnel.outside_address,
        "inside_local": tunnel.customer_inside_address,
        "inside_remote": tunnel.aws_inside_address,
        "inside_prefix": int(tunnel.inside_cidr.rpartition("/")[2]),
        "remote_asn": asn,
    }
    if connection.tunnels.gateway_address != primary.tunnels.gateway_address:
        variables["local_address"] = str(connection.tunnels.gateway_address)
    if has_direct_connect and connection.over == "internet":
        variables |= {"preference": BACKUP, "prepend": PREPENDED_ASNS}
    return variables
