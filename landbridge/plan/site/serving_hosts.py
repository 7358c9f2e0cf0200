"""Hosts of model serving, which are not clients of another service."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, collapse_addresses

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.serving import serving_hosts


def without_serving(environment: Environment, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the sources of a rule without the hosts of serving: they train nothing, and read no data of training.

    Rules without sources stay as they are.
    """
    networks = tuple(sources)
    refused = _addresses(environment)
    if not refused:
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
