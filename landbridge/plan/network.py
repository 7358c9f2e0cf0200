"""The AWS network: which subnets there are and which addresses they have."""

import re
from ipaddress import IPv4Network
from typing import Literal

from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.pool import pool_zones

#: The VPC's range is cut into this many equal parts: one for each zone number, and part 0 for public subnets.
PARTS = 8


class SubnetPlan(Args):
    """A subnet, known by the id of its zone (names of zones differ between accounts, ids do not)."""

    zone: str
    cidr: str


class NetworkArgs(Args):
    """A VPC with private subnets; public ones only where a NAT gateway stands in them."""

    cluster: str
    region: str
    cidr: str
    private: tuple[SubnetPlan, ...]
    public: tuple[SubnetPlan, ...]
    nat: Literal["none", "single", "per_zone"]
    onprem_cidr: str
    tags: dict[str, str]


def network_args(environment: Environment) -> NetworkArgs:
    """Plan the network of every zone that a pool may use."""
    zones = sorted({zone for pool in environment.aws.pools for zone in pool_zones(pool, environment.region)})
    behind_nat = {"none": [], "single": zones[:1], "per_zone": zones}[environment.aws.nat]
    return NetworkArgs(
        cluster=environment.name,
        region=environment.region,
        cidr=str(environment.aws.cidr),
        private=tuple(SubnetPlan(zone=zone, cidr=str(private_cidr(environment.aws.cidr, zone))) for zone in zones),
        public=tuple(SubnetPlan(zone=zone, cidr=str(public_cidr(environment.aws.cidr, zone))) for zone in behind_nat),
        nat=environment.aws.nat,
        onprem_cidr=str(environment.onprem.cidr),
        tags=tags(environment),
    )


def private_cidr(cidr: IPv4Network, zone: str) -> IPv4Network:
    """Return a zone's private range. It depends on the zone's own number alone, so adding a zone moves no other."""
    return _parts(cidr)[zone_number(zone)]


def public_cidr(cidr: IPv4Network, zone: str) -> IPv4Network:
    """Return a zone's public range, inside part 0."""
    return _parts(_parts(cidr)[0])[zone_number(zone)]


def zone_number(zone: str) -> int:
    """Return the number in a zone's id: 4 for `use1-az4`."""
    found = re.search(r"-az([1-7])$", zone)
    if found is None:
        raise ValueError(f"{zone!r} is not the id of an availability zone with a number from 1 to 7")
    return int(found.group(1))


def _parts(cidr: IPv4Network) -> list[IPv4Network]:
    return list(cidr.subnets(prefixlen_diff=PARTS.bit_length() - 1))
