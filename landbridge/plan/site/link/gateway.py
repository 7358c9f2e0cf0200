"""Variables of the role site_gateway: our own site's gateway, and gateways of linked sites."""

from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Any

from landbridge.environment import DirectConnectSettings, Environment
from landbridge.environment.link import LinkedSite, Tunnels
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.link import OWN, OWN_KEYS, SECOND_OWN, Connection, cipher_of, connections
from landbridge.plan.other_regions import vpc_ranges
from landbridge.plan.outputs import StackOutputs, TunnelOutput

Variables = dict[str, Any]
#: File with our own tunnels' keys in the secrets folder; another site's file has a dash and its name added.
KEYS = "link_pre_shared_keys"
#: BGP local preference: BGP's default, and the value of a backup connection.
PREFERRED, BACKUP = 100, 50
#: A standby gateway's local preference is lower, and its announcements have one more AS number: it stays between the first
#: gateway's tunnels and the first gateway's backup.
STANDBY, STANDBY_ASNS = 10, 1
#: Priorities of the two gateways for the shared address (VRRP). Source: RFC 9568, section 5.2.4 (1 to 254).
VRRP_PRIORITIES = (150, 100)
#: BGP's hold time that the role has by default, in seconds, and the number of keepalives in a hold time (RFC 4271, section 4.4).
_HOLD_SECONDS, _KEEPALIVES = 30, 3
#: Number of times that a backup's announcements prepend our AS number: routers prefer shorter AS paths.
PREPENDED_ASNS = 2


def keys_file(site: str) -> str:
    """Return the file of a site's tunnel pre-shared keys in the secrets folder: `onprem` is our own site, `onprem-2` its
    second gateway.
    """
    return KEYS if site == OWN else f"{KEYS}-{site}"


def linked_gateways(environment: Environment) -> dict[str, tuple[str, LinkedSite]]:
    """Return the gateways of the linked sites by host: the site's name and its settings."""
    sites = environment.link.sites if environment.link is not None else {}
    return {site.gateway: (name, site) for name, site in sites.items()}


def own_gateways(environment: Environment) -> tuple[str, ...]:
    """Return the gateways of our own site that Landbridge configures: those at which tunnels end."""
    gateways = service_hosts(environment).gateways
    return tuple(host for number, host in enumerate(gateways) if _own_connections(environment, number))


def gateway_variables(environment: Environment, outputs: StackOutputs | None, number: int = 0) -> Variables:
    """Return the variables of one of our own gateways; empty if none of its tunnels ends at our site."""
    link, served = environment.link, service_hosts(environment)
    own_connections = _own_connections(environment, number)
    if link is None or len(served.gateways) <= number or not own_connections:
        return {}
    ranges = [*vpc_ranges(environment), *_others(environment, OWN)]
    variables = _common(own_connections[0].tunnels, link.onprem_asn, served.cidr, ranges)
    variables["site_gateway_local_address"] = str(own_connections[0].gateway_address)
    address = str(served.addresses[served.gateways[number]])
    variables |= {"site_gateway_router_id": address, "site_gateway_source_address": address}
    variables |= _certificate(environment, served.gateways[number])
    variables["site_gateway_mtu"] = min(connection.tunnels.mtu for connection in own_connections)
    if link.bgp_hold_seconds != _HOLD_SECONDS:
        variables["site_gateway_bgp_hold"] = link.bgp_hold_seconds
        variables["site_gateway_bgp_keepalive"] = link.bgp_hold_seconds // _KEEPALIVES
    neighbors = [str(link.router)] if link.router is not None else []
    if served.gateway_pair:
        variables |= _pair(environment, number)
        neighbors.append(str(served.addresses[served.gateways[1 - number]]))
    if neighbors:
        variables["site_gateway_inside_neighbors"] = neighbors
    tunnels = _own_tunnels(outputs, number)
    if tunnels and outputs is not None and outputs.link is not None:
        by_transport = {connection.over: connection for connection in own_connections}
        is_standby = number > 0 and link.second_gateway == "standby"
        variables["site_gateway_tunnels"] = [
            _tunnel(position, tunnel, outputs.link.aws_asn, by_transport[tunnel.over], own_connections[0])
            | _order(by_transport[tunnel.over], isinstance(link, DirectConnectSettings), is_standby)
            for position, tunnel in enumerate(tunnels, start=1)
        ]
    return variables


def _own_connections(environment: Environment, number: int) -> list[Connection]:
    """Return the VPN connections of one of our own gateways."""
    return [connection for connection in connections(environment) if connection.key in OWN_KEYS[number]]


def _own_tunnels(outputs: StackOutputs | None, number: int) -> Sequence[TunnelOutput]:
    """Return the tunnels of one of our own gateways in the stack's outputs."""
    if outputs is None or outputs.link is None:
        return ()
    if number == 0:
        return outputs.link.tunnels
    second = outputs.link.sites.get(SECOND_OWN)
    return second.tunnels if second is not None else ()


def _pair(environment: Environment, number: int) -> Variables:
    """Return the variables that one of two gateways has in addition."""
    link, served = environment.link, service_hosts(environment)
    assert link is not None
    variables: Variables = {} if number == 0 else {"landbridge_link_keys": keys_file(SECOND_OWN)}
    if link.shared_address is not None:
        variables |= {
            "site_gateway_shared_address": f"{link.shared_address}/{served.cidr.prefixlen}",
            "site_gateway_shared_priority": VRRP_PRIORITIES[number],
            "site_gateway_shared_peer": str(served.addresses[served.gateways[1 - number]]),
        }
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
        **_certificate(environment, site.gateway),
        "landbridge_link_keys": keys_file(name),
    }
    if outputs is not None and outputs.link is not None and name in outputs.link.sites:
        variables["site_gateway_tunnels"] = [
            _tunnel(number, tunnel, outputs.link.aws_asn, connection, connection)
            for number, tunnel in enumerate(outputs.link.sites[name].tunnels, start=1)
        ]
    return variables


def _certificate(environment: Environment, host: str) -> Variables:
    """Return the variables of a gateway's certificate; empty with pre-shared keys."""
    settings = environment.link.certificate if environment.link is not None else None
    if settings is None:
        return {}
    # Here: every command asks for the groups of hosts, and few need certificates.
    from landbridge.certificates import certificates_in

    authorities = certificates_in(settings.authorities)
    return {
        "site_gateway_certificate": {
            "name": tunnel_certificate_name(environment, host),
            "authorities": [f"{authority}\n" for authority in authorities],
            "issuer": settings.authority_arn,
            "region": environment.region,
            "days": settings.days,
            "renew_days": settings.renew_days,
            "alarm_days": settings.alarm_days,
        }
    }


def tunnel_certificate_name(environment: Environment, host: str) -> str:
    """Return the common name of a gateway's certificate."""
    return f"{host}.{environment.name}"


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
        "site_gateway_local_address": str(tunnels.gateway_addresses[0]),
        "site_gateway_local_asn": asn,
        "site_gateway_advertise": [str(own_cidr)],
        "site_gateway_accept": [str(cidr) for cidr in accepted_cidrs],
        "site_gateway_ike_proposals": cipher.ike_proposal,
        "site_gateway_esp_proposals": cipher.esp_proposal,
    }


def _tunnel(number: int, tunnel: TunnelOutput, asn: int, connection: Connection, primary: Connection) -> Variables:
    variables: Variables = {
        "name": f"aws{number}",
        "remote_address": tunnel.outside_address,
        "inside_local": tunnel.customer_inside_address,
        "inside_remote": tunnel.aws_inside_address,
        "inside_prefix": int(tunnel.inside_cidr.rpartition("/")[2]),
        "remote_asn": asn,
    }
    if connection.gateway_address != primary.gateway_address:
        variables["local_address"] = str(connection.gateway_address)
    return variables


def _order(connection: Connection, has_direct_connect: bool, is_standby: bool) -> Variables:
    """Return the order of a tunnel among the site's tunnels: BGP's local preference, and copies of our AS number."""
    is_backup = has_direct_connect and connection.over == "internet"
    preference, prepended = (BACKUP, PREPENDED_ASNS) if is_backup else (PREFERRED, 0)
    if is_standby:
        preference, prepended = preference - STANDBY, prepended + STANDBY_ASNS
    return {} if prepended == 0 else {"preference": preference, "prepend": prepended}
