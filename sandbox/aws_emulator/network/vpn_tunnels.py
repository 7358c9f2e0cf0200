"""Tunnels of Site-to-Site VPN connections: addresses and pre-shared keys by AWS, and ModifyVpnTunnelOptions.

moto has constant values, and no changes of tunnels. Source: EC2 API Reference, ModifyVpnTunnelOptions ("you can only
modify one tunnel at a time") and ModifyVpnTunnelOptionsSpecification; Site-to-Site VPN User Guide, "Modify Site-to-Site
VPN tunnel options" (the tunnel is interrupted meanwhile) and "Tunnel options".
"""

import hashlib
import re
import string
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import IPv4Network, ip_address
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models.vpn_connections import VPNConnectionBackend
from moto.ec2.responses import EC2Response

from landbridge.catalog.aws.limits import limits
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error

#: Outside addresses of AWS's tunnel ends, as offsets from the customer gateway's address: the lab's "internet" is one
#: network.
_OUTSIDE_OFFSETS = (10, 11)
_KEY_LETTERS = string.ascii_letters + string.digits + "._"
_KEY_LENGTH = 32
_CHANGEABLE = frozenset({"PreSharedKey", "TunnelInsideCidr"})
_describe = VPNConnectionBackend.describe_vpn_connections


def install(emulator: EmulatorState) -> None:
    """Replace moto's actions. Global to the process, as moto's state is."""
    create = EC2Response.create_vpn_connection

    def describe(backend: Any, *arguments: Any, **keywords: Any) -> list[Any]:
        for connection in backend.vpn_connections.values():
            _settle(connection, emulator.now())
        return _describe(backend, *arguments, **keywords)

    def modify(response: Any) -> Any:
        with emulator.lock:
            return _modify(response, emulator.now(), emulator.tunnel_change)

    if not getattr(create, "has_tunnels", False):
        EC2Response.create_vpn_connection = _creating(create)
    EC2Response.create_customer_gateway = _create_gateway
    VPNConnectionBackend.describe_vpn_connections = describe
    EC2Response.modify_vpn_tunnel_options = modify


def _create_gateway(response: Any) -> Any:
    """Create a customer gateway, or return the existing one with the same type, address, ASN and device name.

    Source: EC2 API Reference, CreateCustomerGateway (2026-11-29).
    """
    backend, device = response.ec2_backend, str(response._get_param("DeviceName") or "")
    address = response._get_param("IpAddress") or response._get_param("PublicIp")
    identity = (response._get_param("Type"), address, str(response._get_param("BgpAsn")), device)
    for gateway in backend.customer_gateways.values():
        if gateway.state == "available" and getattr(gateway, "landbridge_identity", None) == identity:
            return ActionResult({"CustomerGateway": gateway})
    tags = response._parse_tag_specification().get("customer-gateway", {})
    gateway = backend.create_customer_gateway(identity[0], ip_address=address, bgp_asn=identity[2], tags=tags)
    gateway.landbridge_identity, gateway.device_name = identity, device
    return ActionResult({"CustomerGateway": gateway})


def _creating(create: Any) -> Any:
    def create_with_tunnels(response: Any) -> Any:
        options = response._get_param("Options", {})
        chosen = [dict(row) for row in options.get("TunnelOptions", [])]
        for row in chosen:
            _check(row)
        result = create(response)
        backend = response.ec2_backend
        connection = result.result["VpnConnection"]
        connection.options = {
            "StaticRoutesOnly": str(options.get("StaticRoutesOnly", "false")).lower() == "true",
            "TunnelOptions": _tunnels(backend, connection, options, [*chosen, {}, {}][:2]),
        }
        return result

    create_with_tunnels.has_tunnels = True  # type: ignore[attr-defined]
    return create_with_tunnels


def _tunnels(
    backend: Any, connection: Any, options: Mapping[str, Any], chosen: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    rows = []
    for number, row in enumerate(chosen, start=1):
        seed = f"{connection.id}/{number}"
        outside = ip_address(_gateway(backend, connection, options)) + _OUTSIDE_OFFSETS[number - 1]
        rows.append(
            {
                "OutsideIpAddress": str(outside),
                "TunnelInsideCidr": row.get("TunnelInsideCidr") or _inside(seed),
                "PreSharedKey": row.get("PreSharedKey") or _pre_shared_key(seed),
            }
        )
    return rows


def _gateway(backend: Any, connection: Any, options: Mapping[str, Any]) -> str:
    """Return the first address of AWS's tunnel ends; inside Direct Connect, take it from the transit gateway's CIDR
    block.
    """
    if options.get("OutsideIpAddressType") == "PrivateIpv4":
        hub = backend.transit_gateways[connection.transit_gateway_id]
        return str(IPv4Network(hub.options["TransitGatewayCidrBlocks"][0])[0])
    return str(backend.get_customer_gateway(connection.customer_gateway_id).ip_address)


def _modify(response: Any, now: datetime, duration: timedelta) -> Any:
    backend = response.ec2_backend
    id_, outside = response._get_param("VpnConnectionId"), response._get_param("VpnTunnelOutsideIpAddress")
    options = dict(response._get_param("TunnelOptions", {}))
    connection = backend.vpn_connections.get(id_)
    if connection is None or connection.state == "deleted":
        raise error("InvalidVpnConnectionID.NotFound", f"The vpnConnection ID '{id_}' does not exist")
    _settle(connection, now)
    if connection.state != "available":
        raise error("IncorrectState", f"The vpnConnection '{id_}' is {connection.state}: one tunnel at a time.")
    tunnel = next((row for row in connection.options["TunnelOptions"] if row["OutsideIpAddress"] == outside), None)
    if tunnel is None:
        raise error("InvalidParameterValue", f"The vpnConnection '{id_}' has no tunnel with the address {outside}.")
    if not options or set(options) - _CHANGEABLE:
        raise error("InvalidParameterCombination", f"The emulated AWS changes {', '.join(sorted(_CHANGEABLE))} only.")
    _check(options)
    tunnel.update(options)
    connection.state, connection.modifying_until = "modifying", now + duration
    return ActionResult({"VpnConnection": connection})


def _settle(connection: Any, now: datetime) -> None:
    """Set a connection to `available` when its change has ended."""
    if connection.state == "modifying" and now >= connection.modifying_until:
        connection.state = "available"


def _check(options: Mapping[str, Any]) -> None:
    """Refuse a pre-shared key or an inside range that AWS refuses."""
    facts, key, inside = limits().vpn, options.get("PreSharedKey"), options.get("TunnelInsideCidr")
    if key is not None and not (
        facts.psk_characters[0] <= len(key) <= facts.psk_characters[1] and re.fullmatch(facts.psk_pattern, key)
    ):
        raise error("InvalidParameterValue", "The pre-shared key has a length or characters that are not allowed.")
    if inside is not None:
        network = IPv4Network(inside)
        if network.prefixlen != facts.inside_prefix or not network.subnet_of(facts.inside_range):
            raise error("InvalidParameterValue", f"The tunnel inside CIDR {inside} is not a valid /30 range.")


def _inside(seed: str) -> str:
    """Return the inside CIDR of a tunnel: different for each tunnel, and outside the ranges that AWS reserves."""
    number = int(hashlib.sha256(seed.encode()).hexdigest(), 16)
    return f"169.254.{16 + number % 150}.{4 * (number // 150 % 64)}/30"


def _pre_shared_key(seed: str) -> str:
    """Return the first pre-shared key of a tunnel."""
    digest = hashlib.sha512(seed.encode()).digest()
    letters = [_KEY_LETTERS[byte % len(_KEY_LETTERS)] for byte in digest[:_KEY_LENGTH]]
    return "".join((string.ascii_letters[digest[-1] % len(string.ascii_letters)], *letters[1:]))
