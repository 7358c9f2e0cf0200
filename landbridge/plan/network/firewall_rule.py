"""Rule of a host's firewall."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any


@dataclass(frozen=True, slots=True)
class FirewallRule:
    """Firewall rule for incoming connections: `sources` (empty: any), protocol, `ports` (empty: all) and the reason.

    `to_serving`: the sources may be hosts of model serving, which other rules leave out.
    """

    sources: tuple[str, ...]
    protocol: str
    ports: tuple[str, ...]
    why: str
    to_serving: bool = False

    def as_variable(self) -> dict[str, Any]:
        """Return the rule as a dictionary of the role hardening's variable."""
        variable: dict[str, Any] = {"protocol": self.protocol, "why": self.why}
        return variable | {
            key: list(value) for key, value in (("sources", self.sources), ("ports", self.ports)) if value
        }


def tcp_rule(sources: Iterable[str], ports: int | str, why: str, to_serving: bool = False) -> FirewallRule:
    """Return the rule of one TCP port or range."""
    return FirewallRule(without_overlaps(sources), "tcp", (str(ports),), why, to_serving)


def without_overlaps(sources: Iterable[str]) -> tuple[str, ...]:
    """Drop networks that lie inside another one: nft refuses a set with overlapping elements."""
    networks = list(dict.fromkeys(map(IPv4Network, sources)))
    return tuple(
        str(network)
        for network in networks
        if not any(network != other and network.subnet_of(other) for other in networks)
    )
