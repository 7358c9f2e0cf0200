"""Dependency checks of deletions, which EC2 has and moto does not have, and the installation of all checks in moto.

Source: EC2 API Reference, error codes DependencyViolation and IncorrectState; the API pages of each
delete.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.utils import generate_route_id

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import Judge, alive, error
from sandbox.aws_emulator.network.creations import CREATES, REFUSALS, below_quota, check_rule_count

#: Function that yields the ids of dependent resources.
Dependants = Callable[[Any, Mapping[str, Any]], Iterator[str]]
_ORIGINAL: dict[str, Any] = {}


def install(emulator: EmulatorState) -> None:
    """Install checks of deletions and creations in moto. Global to the process, as moto's state is."""
    for name, (code, dependants) in _DELETES.items():
        _before(name, _no_dependants(code, dependants))
    for name, (service, quota, code, count) in CREATES.items():
        _before(name, _both(REFUSALS.get(name), below_quota(emulator, service, quota, code, count)))
    for name, correct in _CORRECTIONS.items():
        _before(name, correct)
    # moto's limit is 60 rules per security group and ignores the account's quota.
    EC2Backend._verify_group_will_respect_rule_count_limit = partial(check_rule_count, emulator)


def _before(name: str, judge: Judge) -> None:
    original = _ORIGINAL.setdefault(name, getattr(EC2Backend, name))
    parameters = inspect.signature(original)

    @wraps(original)
    def judged(backend: Any, *arguments: Any, **keywords: Any) -> Any:
        judge(backend, parameters.bind(backend, *arguments, **keywords).arguments)
        return original(backend, *arguments, **keywords)

    setattr(EC2Backend, name, judged)


def _both(first: Judge | None, second: Judge) -> Judge:
    def judge(backend: Any, arguments: Mapping[str, Any]) -> None:
        if first is not None:
            first(backend, arguments)
        second(backend, arguments)

    return judge


def _no_dependants(code: str, dependants: Dependants) -> Callable[[Any, Mapping[str, Any]], None]:
    def judge(backend: Any, arguments: Mapping[str, Any]) -> None:
        dependant = next(dependants(backend, arguments), None)
        if dependant is not None:
            resource_id = next(str(value) for key, value in arguments.items() if key != "self" and value)
            raise error(code, f"resource {resource_id} has a dependent object: {dependant}")

    return judge


def _instances(backend: Any) -> list[Any]:
    return [instance for instance in backend.all_instances() if instance.state != "terminated"]


def _of_vpc(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    vpc = arguments["vpc_id"]
    yield from (subnet.id for zone in backend.subnets.values() for subnet in zone.values() if subnet.vpc_id == vpc)
    yield from (group.id for group in backend.groups.get(vpc, {}).values() if group.name != "default")
    yield from (
        internet_gateway.id
        for internet_gateway in backend.internet_gateways.values()
        if internet_gateway.vpc and internet_gateway.vpc.id == vpc
    )
    yield from (endpoint.id for endpoint in alive(backend.vpc_end_points.values()) if endpoint.vpc_id == vpc)
    attachments = alive(backend.transit_gateway_attachments.values())
    yield from (attachment.id for attachment in attachments if getattr(attachment, "vpc_id", None) == vpc)


def _of_subnet(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    subnet = arguments["subnet_id"]
    yield from (gateway.id for gateway in alive(backend.nat_gateways.values()) if gateway.subnet_id == subnet)
    endpoints = alive(backend.vpc_end_points.values())
    yield from (endpoint.id for endpoint in endpoints if subnet in (endpoint.subnet_ids or []))
    attachments = alive(backend.transit_gateway_attachments.values())
    yield from (
        attachment.id for attachment in attachments if subnet in (getattr(attachment, "subnet_ids", None) or [])
    )
    yield from (instance.id for instance in _instances(backend) if instance.subnet_id == subnet)
    yield from (eni.id for eni in backend.enis.values() if eni.subnet.id == subnet)


def _of_group(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    group_id = arguments.get("group_id")
    if group_id is None:
        return
    for other in (group for groups in backend.groups.values() for group in groups.values()):
        rules = (*other.ingress_rules, *other.egress_rules)
        if other.id != group_id and any(rule.source_group.get("GroupId") == group_id for rule in rules):
            yield other.id
    endpoints = alive(backend.vpc_end_points.values())
    yield from (endpoint.id for endpoint in endpoints if group_id in (endpoint.security_group_ids or []))
    for instance in _instances(backend):
        if any(group.id == group_id for nic in instance.nics.values() for group in nic.group_set):
            yield instance.id
    yield from (eni.id for eni in backend.enis.values() if any(group.id == group_id for group in eni.group_set))


def _of_internet_gateway(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the public NAT gateways of the VPC, which depend on the internet gateway."""
    for gateway in alive(backend.nat_gateways.values()):
        inside = backend.get_subnet(gateway.subnet_id).vpc_id == arguments["vpc_id"]
        if gateway.connectivity_type != "private" and inside:
            yield gateway.id


def _of_address(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    for gateway in alive(backend.nat_gateways.values()):
        allocation_ids = [address.get("allocationId") for address in gateway.address_set]
        if arguments.get("allocation_id") in allocation_ids:
            yield gateway.id


def _of_transit_gateway(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    transit_gateway_id = arguments["transit_gateway_id"]
    for attachment in alive(backend.transit_gateway_attachments.values()):
        if transit_gateway_id in _gateways_of(attachment) and attachment.resource_type != "vpn":
            yield attachment.id
    connections = alive(backend.vpn_connections.values())
    yield from (connection.id for connection in connections if connection.transit_gateway_id == transit_gateway_id)


def _gateways_of(attachment: Any) -> tuple[str, ...]:
    """Return the ids of an attachment's transit gateways: two for a peering attachment, else one."""
    accepter = getattr(attachment, "accepter_tgw_info", None)
    return (attachment.transit_gateway_id, *([accepter["TransitGatewayId"]] if accepter else []))


def _of_customer_gateway(backend: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    connections = alive(backend.vpn_connections.values())
    yield from (
        connection.id
        for connection in connections
        if connection.customer_gateway_id == arguments["customer_gateway_id"]
    )


_DELETES: Mapping[str, tuple[str, Dependants]] = {
    "delete_vpc": ("DependencyViolation", _of_vpc),
    "delete_subnet": ("DependencyViolation", _of_subnet),
    "delete_security_group": ("DependencyViolation", _of_group),
    "detach_internet_gateway": ("DependencyViolation", _of_internet_gateway),
    "release_address": ("InvalidIPAddress.InUse", _of_address),
    "delete_transit_gateway": ("IncorrectState", _of_transit_gateway),
    "delete_customer_gateway": ("IncorrectState", _of_customer_gateway),
}


def _interface_of_nat_gateway(backend: Any, arguments: Mapping[str, Any]) -> None:
    """Delete a NAT gateway's network interface, as AWS does."""
    gateway = backend.nat_gateways.get(arguments["nat_gateway_id"])
    if gateway is not None:
        backend.enis.pop(gateway._eni.id, None)


def _routes_of_endpoints(backend: Any, arguments: Mapping[str, Any]) -> None:
    """Keep only route tables with a route to a gateway endpoint; moto creates no route for a table added later."""
    for endpoint_id in arguments.get("vpce_ids") or []:
        endpoint = backend.vpc_end_points.get(endpoint_id)
        if endpoint is not None and endpoint.route_table_ids:
            prefix = endpoint.destination_prefix_list_id
            tables = {table: backend.route_tables.get(table) for table in endpoint.route_table_ids}
            endpoint.route_table_ids = [
                table_id
                for table_id, table in tables.items()
                if table and generate_route_id(table_id, prefix) in table._routes
            ]


#: Corrections before deletions that moto does incompletely, or fails on.
_CORRECTIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], None]] = {
    "delete_nat_gateway": _interface_of_nat_gateway,
    "delete_vpc_endpoints": _routes_of_endpoints,
}
