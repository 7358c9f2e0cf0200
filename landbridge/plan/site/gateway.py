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
#: The file of our own tunnels' keys in the secrets folder; another site's has a dash and its name after it.
KEYS = "link_pre_shared_keys"
#: BGP's own default, and what a way gets that carries only while nothing better does.
PREFERRED, BACKUP = 100, 50
#: How often a backup's announcements name our AS number besides: longer ways lose wherever routers compare length.
PREPENDED = 2


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
    own = [one for one in connections(environment) if one.key in (LINE, OWN)]
    if link is None or served.gateway is None or not own:
        return {}
    ranges = [*vpc_ranges(environment), *_others(environment, OWN)]
    found = _common(own[0].tunnels, link.onprem_asn, served.cidr, ranges)
    found["site_gateway_router_id"] = str(served.addresses[served.gateway])
    found["site_gateway_mtu"] = min(one.tunnels.mtu for one in own)
    if isinstance(link, DirectConnectSettings) and link.router is not None:
        found["site_gateway_inside_neighbors"] = [str(link.router)]
    if outputs is not None and outputs.link is not None:
        by_way = {one.over: one for one in own}
        tunnels = outputs.link.tunnels
        backup = isinstance(link, DirectConnectSettings)
        found["site_gateway_tunnels"] = [
            _tunnel(number, tunnel, outputs.link.aws_asn, by_way[tunnel.over], own[0], backup)
            for number, tunnel in enumerate(tunnels, start=1)
        ]
    return found


def linked_gateway_variables(environment: Environment, name: str, outputs: StackOutputs | None) -> Variables:
    """Return the variables of a linked site's gateway."""
    own = next(one for one in connections(environment) if one.key == name)
    site = own.tunnels
    assert isinstance(site, LinkedSite)
    found = _common(site, site.asn, site.cidr, [*vpc_ranges(environment), *_others(environment, name)])
    found |= {
        "site_gateway_router_id": str(site.address),
        "site_gateway_mtu": site.mtu,
        "landbridge_link_keys": keys_file(name),
    }
    if outputs is not None and outputs.link is not None and name in outputs.link.sites:
        found["site_gateway_tunnels"] = [
            _tunnel(number, tunnel, outputs.link.aws_asn, own, own, False)
            for number, tunnel in enumerate(outputs.link.sites[name].tunnels, start=1)
        ]
    return found


def _others(environment: Environment, name: str) -> list[IPv4Network]:
    """Return the networks of the sites that this site reaches through AWS."""
    link, onprem = environment.link, environment.onprem
    if link is None or onprem is None or not link.sites_meet:
        return []
    every = {OWN: onprem.cidr, **{key: site.cidr for key, site in link.sites.items()}}
    return [cidr for key, cidr in every.items() if key != name]


def _common(tunnels: Tunnels, asn: int, ours: IPv4Network, theirs: Sequence[IPv4Network]) -> Variables:
    cipher = cipher_of(tunnels)
    return {
        "site_gateway_datapath": tunnels.datapath,
        "site_gateway_local_address": str(tunnels.gateway_address),
        "site_gateway_local_asn": asn,
        "site_gateway_advertise": [str(ours)],
        "site_gateway_accept": [str(cidr) for cidr in theirs],
        "site_gateway_ike_proposals": cipher.ike_proposal,
        "site_gateway_esp_proposals": cipher.esp_proposal,
    }


def _tunnel(
    number: int, tunnel: TunnelOutput, asn: int, own: Connection, first: Connection, beside_a_line: bool
) -> Variables:
    found: Variables = {
        "name": f"aws{number}",
        "remote_address": tunnel.outside_address,
        "inside_local": tunnel.customer_inside_address,
        "inside_remote": tunnel.aws_inside_address,
        "inside_prefix": int(tunnel.inside_cidr.rpartition("/")[2]),
        "remote_asn": asn,
    }
    if own.tunnels.gateway_address != first.tunnels.gateway_address:
        found["local_address"] = str(own.tunnels.gateway_address)
    if beside_a_line and own.over == "internet":
        found |= {"preference": BACKUP, "prepend": PREPENDED}
    return found
