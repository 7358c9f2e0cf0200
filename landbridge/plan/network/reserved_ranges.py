"""Ranges of private subnets whose addresses AWS assigns to no interface by itself: planned addresses are in them.

A CIDR reservation of type `explicit` keeps EC2 from assigning these addresses automatically; several reservations of a subnet must
not overlap. Source: Amazon VPC User Guide, "Subnet CIDR reservations"; read 2026-11-25.
"""

from ipaddress import IPv4Network

from landbridge.environment import Environment
from landbridge.plan.network.subnets import subnets

#: Numbers of the ranges in a zone's private subnet; range 0 has the four addresses that AWS reserves at the beginning.
HOSTS, RESOLVER = 1, 2
_PREFIX_BITS = 28


def reserved_range(environment: Environment, zone: str, number: int) -> IPv4Network | None:
    """Return a numbered /28 of a zone's private subnet; None if the subnet does not exist or is too small."""
    private_subnet = next(
        (subnet for subnet in subnets(environment) if subnet.tier == "private" and subnet.zone == zone), None
    )
    if private_subnet is None:
        return None
    size = 1 << (32 - _PREFIX_BITS)
    if (number + 1) * size > private_subnet.cidr.num_addresses:
        return None
    return IPv4Network((int(private_subnet.cidr.network_address) + number * size, _PREFIX_BITS))
