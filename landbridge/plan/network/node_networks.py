"""Networks of the on-prem nodes, by which rules name them. Pure."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, collapse_addresses

from landbridge import hostlist
from landbridge.environment import Environment

#: Rules name nodes by networks of this prefix length, so that a new node changes no other host's rules.
_NODES_PREFIX_BITS = 24


def node_ranges(environment: Environment) -> tuple[IPv4Network, ...]:
    """Return the networks of the on-prem nodes: /24s, or the site's CIDR if that is smaller."""
    if environment.onprem is None:
        return ()
    site_cidr = environment.onprem.cidr
    if environment.existing_slurm is not None:
        return (site_cidr,)
    ranges = set()
    for group in environment.node_groups:
        for address in _row(environment, group.hosts, group.address):
            network = IPv4Network((address, max(_NODES_PREFIX_BITS, site_cidr.prefixlen)), strict=False)
            ranges.add(network)
    return tuple(collapse_addresses(ranges))


def _row(environment: Environment, hosts: str, first: IPv4Address) -> Iterator[IPv4Address]:
    """Yield the first and last address of a node group, and one address of each network between them."""
    last = first + len(hostlist.expand(hosts)) - 1
    yield from (IPv4Address(address) for address in range(int(first), int(last), 2 ** (32 - _NODES_PREFIX_BITS)))
    yield last
