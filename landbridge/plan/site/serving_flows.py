"""Connections of serving: clients to the model gateway, and the gateway to model servers. Hosts of serving are not clients of
another service.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, collapse_addresses

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.serving import (
    followed_services,
    model_server_hosts,
    model_slots,
    serving_hosts,
    serving_of,
)

#: Groups whose servers accept hosts of serving: the name servers.
_OPEN_GROUPS = ("site_dns",)


@dataclass(frozen=True, slots=True)
class ServingFlow:
    """Connection to the hosts of an inventory group from networks, at ports."""

    group: str
    sources: tuple[str, ...]
    ports: tuple[str, ...]
    why: str
    protocol: str = "tcp"


def serving_flows(environment: Environment) -> Iterator[ServingFlow]:
    """Yield the connections; none without serving."""
    serving, served = serving_of(environment), service_hosts(environment)
    if serving is None:
        return
    gateways = tuple(f"{served.addresses[host]}/32" for host in serving.gateways if host in served.addresses)
    clients = tuple(map(str, serving.clients)) or (str(served.cidr),)
    followed = followed_services(environment)
    if followed:
        # Hosts of model servers read model folders there.
        hosts = (served.addresses[host] for host in model_server_hosts(environment) if host in served.addresses)
        clients += tuple(f"{address}/32" for address in hosts)
        # A gateway of a pair reads the state of the other one there.
        clients += gateways if len(gateways) > 1 else ()
    yield ServingFlow("model_gateway", clients, (str(serving.port),), "clients reach the model gateway")
    if len(gateways) > 1:
        # nft resolves the protocol's name only if /etc/protocols exists. Source: RFC 9568, section 5.1.1.4.
        yield ServingFlow("model_gateway", gateways, (), "VRRP between the two model gateways", "112")
    if gateways:
        ports = tuple(str(port) for port in sorted({slot.port for slot in model_slots(environment)}))
        yield ServingFlow("model_server", gateways, ports, "the model gateway reaches model servers")
        registries = {service.data_class for service in followed.values()}
        ports = tuple(str(each.port) for each in mlflow_servers(environment) if each.data_class in registries)
        if ports:
            yield ServingFlow("mlflow", gateways, ports, "canaries on the model gateway follow and move aliases")


def without_serving(environment: Environment, group: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the sources of a rule without the hosts of serving: they train nothing, and read no data of training.

    The rules of the two groups of serving, of name servers, and rules without sources stay as they are.
    """
    networks = tuple(sources)
    refused = _addresses(environment)
    if not refused or group.startswith("model_") or group in _OPEN_GROUPS:
        return networks
    return tuple(str(part) for network in networks for part in _without(IPv4Network(network), refused))


def _addresses(environment: Environment) -> tuple[IPv4Address, ...]:
    addresses = service_hosts(environment).addresses
    return tuple(addresses[host] for host in serving_hosts(environment) if host in addresses)


def _without(network: IPv4Network, refused: Iterable[IPv4Address]) -> Iterator[IPv4Network]:
    parts = [network]
    for address in refused:
        single = IPv4Network(address)
        parts = [
            piece
            for part in parts
            for piece in (
                (part.address_exclude(single) if part != single else ()) if single.subnet_of(part) else (part,)
            )
        ]
    return collapse_addresses(parts)
