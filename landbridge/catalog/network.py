"""Reserved IP ranges, AS numbers and ports (network.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from ipaddress import IPv4Network

from pydantic import Field

from landbridge.catalog.files import Facts, read


class Together(Facts):
    """AWS restriction: a VPC with a CIDR block in `has` accepts no secondary one in `without`."""

    has: IPv4Network
    without: tuple[IPv4Network, ...] = Field(alias="not")


class NetworkFacts(Facts):
    """Facts of network.yaml."""

    source: str
    as_of: date = Field(alias="date")
    private: tuple[IPv4Network, ...]
    carrier: IPv4Network
    benchmark: IPv4Network
    documentation: tuple[IPv4Network, ...]
    unusable: tuple[IPv4Network, ...]
    together: tuple[Together, ...]
    asn_reserved: tuple[int, ...]
    asn_documentation: tuple[tuple[int, int], ...]
    vpn_mtu_with_nat: int
    administration: Mapping[int, str]

    def is_private(self, network: IPv4Network) -> bool:
        """Return true for RFC 1918 and carrier-grade NAT ranges."""
        return any(network.subnet_of(private_range) for private_range in (*self.private, self.carrier))


@cache
def network() -> NetworkFacts:
    """Return ranges, AS numbers and ports (cached)."""
    return read("network", NetworkFacts)
