"""Checks of creations in EC2, which moto does not have: quotas, and the internet gateway of a public NAT gateway.

Source: EC2 API Reference, error codes *LimitExceeded; the API pages of each creation.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sandbox.aws_emulator.ec2 import quotas
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import Judge, alive, error


def below_quota(
    emulator: EmulatorState, service: str, quota: str, code: str, count: Callable[[Any, Mapping[str, Any]], int]
) -> Callable[[Any, Mapping[str, Any]], None]:
    """Return a check that refuses a creation when as many resources exist as the quota permits."""

    def judge(backend: Any, arguments: Mapping[str, Any]) -> None:
        most = quotas.value(emulator, service, quota)
        if count(backend, arguments) >= most:
            raise error(code, f"The maximum number of these has been reached: {most:.0f} ({quota}).")

    return judge


def check_rule_count(
    emulator: EmulatorState,
    group: Any,
    rule_count: int,
    ranges: Sequence[Any],
    groups: Sequence[Any] | None = None,
    egress: bool = False,
) -> None:
    """Refuse more rules in a security group than the quota permits."""
    most = quotas.value(emulator, "vpc", "L-0EA8095F")
    if rule_count + len(ranges or ()) + len(groups or ()) > most:
        message = f"The maximum number of rules per security group has been reached: {most:.0f} ({group.id})."
        raise error("RulesPerSecurityGroupLimitExceeded", message)


def _zone_of(backend: Any, subnet: str) -> str:
    return str(backend.get_subnet(subnet).availability_zone)


def _nat_gateways(backend: Any, arguments: Mapping[str, Any]) -> int:
    zone = _zone_of(backend, arguments["subnet_id"])
    return sum(_zone_of(backend, gateway.subnet_id) == zone for gateway in alive(backend.nat_gateways.values()))


def _subnets(backend: Any, arguments: Mapping[str, Any]) -> int:
    return sum(subnet.vpc_id == arguments["vpc_id"] for zone in backend.subnets.values() for subnet in zone.values())


def _routes(backend: Any, arguments: Mapping[str, Any]) -> int:
    """Return the number of routes created by CreateRoute; default and propagated routes do not count."""
    if arguments.get("local") or str(arguments.get("gateway_id")).startswith("vpce-"):
        return -1
    table = backend.get_route_table(arguments["route_table_id"])
    return sum(not route.local and not str(route.gateway).startswith("vpce-") for route in table.routes)


def _route_tables(backend: Any, arguments: Mapping[str, Any]) -> int:
    return sum(route_table.vpc_id == arguments["vpc_id"] for route_table in backend.route_tables.values())


#: Service, quota, error code and number of existing resources of each creation with a quota.
CREATES: Mapping[str, tuple[str, str, str, Callable[[Any, Mapping[str, Any]], int]]] = {
    "create_vpc": ("vpc", "L-F678F1CE", "VpcLimitExceeded", lambda backend, _: len(backend.vpcs)),
    "create_subnet": ("vpc", "L-407747CB", "SubnetLimitExceeded", _subnets),
    "create_route": ("vpc", "L-93826ACB", "RouteLimitExceeded", _routes),
    "create_route_table": ("vpc", "L-589F43AA", "RouteTableLimitExceeded", _route_tables),
    "create_security_group": (
        "vpc",
        "L-E79EC296",
        "SecurityGroupLimitExceeded",
        lambda backend, _: sum(map(len, backend.groups.values())),
    ),
    "create_internet_gateway": (
        "vpc",
        "L-A4707A72",
        "InternetGatewayLimitExceeded",
        lambda backend, _: len(backend.internet_gateways),
    ),
    "create_nat_gateway": ("vpc", "L-FE5A380F", "NatGatewayLimitExceeded", _nat_gateways),
    "allocate_address": ("ec2", "L-0263D0A3", "AddressLimitExceeded", lambda backend, _: len(backend.addresses)),
    "create_transit_gateway": (
        "ec2",
        "L-A2478D36",
        "TransitGatewayLimitExceeded",
        lambda backend, _: len(alive(backend.transit_gateways.values())),
    ),
    "create_customer_gateway": (
        "ec2",
        "L-4FB7FF5D",
        "CustomerGatewayLimitExceeded",
        lambda backend, _: len(alive(backend.customer_gateways.values())),
    ),
    "create_vpn_connection": (
        "ec2",
        "L-3E6EC3A3",
        "VpnConnectionLimitExceeded",
        lambda backend, _: len(alive(backend.vpn_connections.values())),
    ),
}


def _check_internet_gateway(backend: Any, arguments: Mapping[str, Any]) -> None:
    """Refuse a public NAT gateway in a VPC without an internet gateway. EC2 itself accepts the call, and the NAT gateway
    then fails with this code and message.

    Source: Amazon VPC User Guide, "Troubleshoot NAT gateways", failure reasons; read 2026-11-25.
    """
    if arguments.get("connectivity_type") == "private":
        return
    vpc = backend.get_subnet(arguments["subnet_id"]).vpc_id
    if not any(gateway.vpc and gateway.vpc.id == vpc for gateway in backend.internet_gateways.values()):
        raise error("Gateway.NotAttached", f"Network {vpc} has no Internet gateway attached")


#: Checks of creations that also have a quota.
REFUSALS: Mapping[str, Judge] = {"create_nat_gateway": _check_internet_gateway}
