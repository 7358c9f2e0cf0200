"""Dependency checks of deletions and quota checks of creations that EC2 makes and moto does not.

Source: EC2 API Reference, error codes DependencyViolation, IncorrectState, *LimitExceeded; the API pages of each delete.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.utils import generate_route_id

from sandbox.aws_emulator.ec2 import quotas
from sandbox.aws_emulator.emulator_state import EmulatorState

#: Yields the ids of dependent resources.
Needs = Callable[[Any, Mapping[str, Any]], Iterator[str]]
_ORIGINAL: dict[str, Any] = {}


def install(world: EmulatorState) -> None:
    """Judge deletes and creates before moto does them. Global to the process, as moto's own state is."""
    for name, (code, needs) in _DELETES.items():
        _before(name, _no_dependants(code, needs))
    for name, (service, quota, code, count) in _CREATES.items():
        _before(name, _below_quota(world, service, quota, code, count))
    for name, tidy in _TIDY.items():
        _before(name, tidy)
    # moto's own limit of a group's rules is 60 whatever the account's quota is.
    EC2Backend._verify_group_will_respect_rule_count_limit = partial(_room_for_rules, world)


def _before(name: str, judge: Callable[[Any, Mapping[str, Any]], None]) -> None:
    original = _ORIGINAL.setdefault(name, getattr(EC2Backend, name))
    parameters = inspect.signature(original)

    def judged(backend: Any, *arguments: Any, **named: Any) -> Any:
        judge(backend, parameters.bind(backend, *arguments, **named).arguments)
        return original(backend, *arguments, **named)

    setattr(EC2Backend, name, judged)


def _no_dependants(code: str, needs: Needs) -> Callable[[Any, Mapping[str, Any]], None]:
    def judge(backend: Any, asked: Mapping[str, Any]) -> None:
        found = next(needs(backend, asked), None)
        if found is not None:
            thing = next(str(value) for key, value in asked.items() if key != "self" and value)
            raise error(code, f"resource {thing} has a dependent object: {found}")

    return judge


def _below_quota(
    world: EmulatorState, service: str, quota: str, code: str, count: Callable[[Any, Mapping[str, Any]], int]
) -> Callable[[Any, Mapping[str, Any]], None]:
    def judge(backend: Any, asked: Mapping[str, Any]) -> None:
        most = quotas.value(world, service, quota)
        if count(backend, asked) >= most:
            raise error(code, f"The maximum number of these has been reached: {most:.0f} ({quota}).")

    return judge


def _room_for_rules(
    world: EmulatorState,
    group: Any,
    now: int,
    ranges: Sequence[Any],
    groups: Sequence[Any] | None = None,
    egress: bool = False,
) -> None:
    most = quotas.value(world, "vpc", "L-0EA8095F")
    if now + len(ranges or ()) + len(groups or ()) > most:
        message = f"The maximum number of rules per security group has been reached: {most:.0f} ({group.id})."
        raise error("RulesPerSecurityGroupLimitExceeded", message)


def error(code: str, message: str) -> Exception:
    """An error that moto's own answers carry: these checks run inside of its calls."""
    from moto.ec2.exceptions import EC2ClientError

    return EC2ClientError(code, message)


def _alive(things: Any) -> list[Any]:
    return [thing for thing in things if "delet" not in str(getattr(thing, "state", ""))]


def _instances(backend: Any) -> list[Any]:
    return [instance for instance in backend.all_instances() if instance.state != "terminated"]


def _of_vpc(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    vpc = asked["vpc_id"]
    yield from (one.id for zone in backend.subnets.values() for one in zone.values() if one.vpc_id == vpc)
    yield from (one.id for one in backend.groups.get(vpc, {}).values() if one.name != "default")
    yield from (
        internet_gateway.id
        for internet_gateway in backend.internet_gateways.values()
        if internet_gateway.vpc and internet_gateway.vpc.id == vpc
    )
    yield from (one.id for one in _alive(backend.vpc_end_points.values()) if one.vpc_id == vpc)
    attached = _alive(backend.transit_gateway_attachments.values())
    yield from (one.id for one in attached if getattr(one, "vpc_id", None) == vpc)


def _of_subnet(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    subnet = asked["subnet_id"]
    yield from (one.id for one in _alive(backend.nat_gateways.values()) if one.subnet_id == subnet)
    yield from (one.id for one in _alive(backend.vpc_end_points.values()) if subnet in (one.subnet_ids or []))
    attached = _alive(backend.transit_gateway_attachments.values())
    yield from (one.id for one in attached if subnet in (getattr(one, "subnet_ids", None) or []))
    yield from (instance.id for instance in _instances(backend) if instance.subnet_id == subnet)
    yield from (eni.id for eni in backend.enis.values() if eni.subnet.id == subnet)


def _of_group(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    group = asked.get("group_id")
    if group is None:
        return
    for other in (one for groups in backend.groups.values() for one in groups.values()):
        rules = (*other.ingress_rules, *other.egress_rules)
        if other.id != group and any(rule.source_group.get("GroupId") == group for rule in rules):
            yield other.id
    yield from (one.id for one in _alive(backend.vpc_end_points.values()) if group in (one.security_group_ids or []))
    for instance in _instances(backend):
        if any(one.id == group for nic in instance.nics.values() for one in nic.group_set):
            yield instance.id
    yield from (eni.id for eni in backend.enis.values() if any(one.id == group for one in eni.group_set))


def _of_internet_gateway(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    """Detaching: public addresses of the VPC are mapped through it."""
    for gateway in _alive(backend.nat_gateways.values()):
        inside = backend.get_subnet(gateway.subnet_id).vpc_id == asked["vpc_id"]
        if gateway.connectivity_type != "private" and inside:
            yield gateway.id


def _of_address(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    for gateway in _alive(backend.nat_gateways.values()):
        held = [one.get("allocationId") for one in gateway.address_set]
        if asked.get("allocation_id") in held:
            yield gateway.id


def _of_transit_gateway(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    transit_gateway_id = asked["transit_gateway_id"]
    attached = _alive(backend.transit_gateway_attachments.values())
    yield from (one.id for one in attached if transit_gateway_id in _ends(one) and one.resource_type != "vpn")
    yield from (
        one.id for one in _alive(backend.vpn_connections.values()) if one.transit_gateway_id == transit_gateway_id
    )


def _ends(attachment: Any) -> tuple[str, ...]:
    """The transit gateways that an attachment is of: two where it is a peering."""
    accepter = getattr(attachment, "accepter_tgw_info", None)
    return (attachment.transit_gateway_id, *([accepter["TransitGatewayId"]] if accepter else []))


def _of_customer_gateway(backend: Any, asked: Mapping[str, Any]) -> Iterator[str]:
    connections = _alive(backend.vpn_connections.values())
    yield from (
        connection.id for connection in connections if connection.customer_gateway_id == asked["customer_gateway_id"]
    )


_DELETES: Mapping[str, tuple[str, Needs]] = {
    "delete_vpc": ("DependencyViolation", _of_vpc),
    "delete_subnet": ("DependencyViolation", _of_subnet),
    "delete_security_group": ("DependencyViolation", _of_group),
    "detach_internet_gateway": ("DependencyViolation", _of_internet_gateway),
    "release_address": ("InvalidIPAddress.InUse", _of_address),
    "delete_transit_gateway": ("IncorrectState", _of_transit_gateway),
    "delete_customer_gateway": ("IncorrectState", _of_customer_gateway),
}


def _zone_of(backend: Any, subnet: str) -> str:
    return str(backend.get_subnet(subnet).availability_zone)


def _nat_gateways(backend: Any, asked: Mapping[str, Any]) -> int:
    zone = _zone_of(backend, asked["subnet_id"])
    return sum(_zone_of(backend, one.subnet_id) == zone for one in _alive(backend.nat_gateways.values()))


def _subnets(backend: Any, asked: Mapping[str, Any]) -> int:
    return sum(one.vpc_id == asked["vpc_id"] for zone in backend.subnets.values() for one in zone.values())


def _routes(backend: Any, asked: Mapping[str, Any]) -> int:
    """Return routes made by CreateRoute; default and propagated routes do not count."""
    if asked.get("local") or str(asked.get("gateway_id")).startswith("vpce-"):
        return -1
    table = backend.get_route_table(asked["route_table_id"])
    return sum(not route.local and not str(route.gateway).startswith("vpce-") for route in table.routes)


def _route_tables(backend: Any, asked: Mapping[str, Any]) -> int:
    return sum(route_table.vpc_id == asked["vpc_id"] for route_table in backend.route_tables.values())


def _interface_of_nat_gateway(backend: Any, asked: Mapping[str, Any]) -> None:
    """AWS takes a NAT gateway's interface away with it."""
    gateway = backend.nat_gateways.get(asked["nat_gateway_id"])
    if gateway is not None:
        backend.enis.pop(gateway._eni.id, None)


def _routes_of_endpoints(backend: Any, asked: Mapping[str, Any]) -> None:
    """Remove a gateway endpoint's routes when it is deleted; moto makes no route for a table that is added later."""
    for one in asked.get("vpce_ids") or []:
        endpoint = backend.vpc_end_points.get(one)
        if endpoint is not None and endpoint.route_table_ids:
            prefix = endpoint.destination_prefix_list_id
            tables = {table: backend.route_tables.get(table) for table in endpoint.route_table_ids}
            endpoint.route_table_ids = [
                name for name, table in tables.items() if table and generate_route_id(name, prefix) in table._routes
            ]


#: Resources that moto leaves behind, or fails on.
_TIDY: Mapping[str, Callable[[Any, Mapping[str, Any]], None]] = {
    "delete_nat_gateway": _interface_of_nat_gateway,
    "delete_vpc_endpoints": _routes_of_endpoints,
}


_CREATES: Mapping[str, tuple[str, str, str, Callable[[Any, Mapping[str, Any]], int]]] = {
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
        lambda backend, _: len(_alive(backend.transit_gateways.values())),
    ),
    "create_customer_gateway": (
        "ec2",
        "L-4FB7FF5D",
        "CustomerGatewayLimitExceeded",
        lambda backend, _: len(_alive(backend.customer_gateways.values())),
    ),
    "create_vpn_connection": (
        "ec2",
        "L-3E6EC3A3",
        "VpnConnectionLimitExceeded",
        lambda backend, _: len(_alive(backend.vpn_connections.values())),
    ),
}
