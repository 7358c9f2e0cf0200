"""Limits of security group rules: ports, sources and their number."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network

from landbridge.catalog.network import network
from landbridge.plan.aws_limits.violation import LimitViolation

#: Prefix length up to which a public range counts as the internet.
_INTERNET_PREFIX_BITS = 8
_WITH_PORTS = {"tcp": "tcp", "udp": "udp", "6": "tcp", "17": "udp"}
_LAST_PORT = 65535


def port_range_violations(protocol: str, first: int | None, last: int | None) -> Iterator[LimitViolation]:
    """Yield port ranges that EC2 rejects or ignores. Keys: `first` and `last`, "" for both.

    tcp and udp (by name or number) have ports. Other protocols have none, except ICMP's types and codes.
    Source: EC2 API Reference, IpPermission: FromPort and ToPort.
    """
    protocol_name = _WITH_PORTS.get(protocol)
    if protocol_name is None:
        return
    for key, value in (("first", first), ("last", last)):
        if value is None:
            yield LimitViolation(key, f"{protocol_name} without ports")
    if first is not None and last is not None:
        if first > last:
            yield LimitViolation("first", f"the range {first}-{last} goes backwards")
        elif first < 0 or last > _LAST_PORT:
            yield LimitViolation("", f"ports go to {_LAST_PORT}, not from {first} to {last}")


def rule_count_violations(count: int, most: int) -> Iterator[LimitViolation]:
    """Yield a violation if a security group has too many rules in one direction; each CIDR range, prefix list and group
    counts.

    Source: VPC User Guide, "Amazon VPC quotas", security groups (L-0EA8095F).
    """
    if count > most:
        yield LimitViolation("", f"{count} rules in a security group; AWS allows {most} each way")


def is_internet(source: str | IPv4Network | IPv6Network) -> bool:
    """True if a CIDR range is the whole internet or a large part of it; False for text that is not a range.

    Source: AWS Foundational Security Best Practices, EC2.18 and EC2.19.
    """
    try:
        source_network = ip_network(source)
    except ValueError:
        return False
    if isinstance(source_network, IPv6Network):
        return source_network.prefixlen <= _INTERNET_PREFIX_BITS and source_network.is_global
    return source_network.prefixlen <= _INTERNET_PREFIX_BITS and not network().is_private(source_network)
