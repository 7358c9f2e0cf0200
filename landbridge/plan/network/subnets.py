"""Subnets: a private one in each zone, and public ones for NAT gateways."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from landbridge.catalog import limits
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.network.services.serving import cloud_model_servers
from landbridge.plan.zones import environment_zones, services_zones, storage_zone

Tier = Literal["private", "public"]

#: A range is divided into this many equal parts: one for each zone number, and part 0 of the VPC's range for public
#: subnets.
PARTS_PER_RANGE = 8


@dataclass(frozen=True, slots=True)
class PlannedSubnet:
    """Subnet: `id` if it exists already, `path` is the path in the file that decides its range."""

    zone: str
    tier: Tier
    cidr: IPv4Network
    path: DataPath
    id: str | None = None

    @property
    def addresses(self) -> int:
        """Number of usable addresses: AWS reserves some of every subnet."""
        return max(self.cidr.num_addresses - limits().vpc.reserved_addresses, 0)


def subnets(environment: Environment) -> tuple[PlannedSubnet, ...]:
    """Return all subnets. A zone without a number from 1 to 7, or without space in the range, has none: a rule reports
    it.
    """
    zones = used_zones(environment)
    public_zones = nat_zones(environment, zones)
    return (*_planned(environment, "private", zones), *_planned(environment, "public", public_zones))


def used_zones(environment: Environment) -> tuple[str, ...]:
    """Return the zones that need subnets, sorted: zones of pools, of services and model servers in AWS, and of file systems."""
    zones = {*environment_zones(environment), *services_zones(environment), *cloud_model_servers(environment).values()}
    for share in environment.storage.in_aws().values():
        if share.kind == "efs":
            zones.update(share.zones)
        elif (zone := storage_zone(environment, share.zone)) is not None:
            zones.add(zone)
    return tuple(sorted(zones))


def nat_zones(environment: Environment, zones: tuple[str, ...]) -> tuple[str, ...]:
    """Return the zones with a NAT gateway; none for an existing VPC, which has its own NAT."""
    if environment.aws.vpc is not None:
        return ()
    return {"none": (), "single": zones[:1], "per_zone": zones}[environment.aws.nat]


def zone_number(zone: str) -> int:
    """Return the number in a zone's id: 4 for `use1-az4`. Raises ValueError for one that is not from 1 to 7."""
    match = re.search(r"-az([1-7])$", zone)
    if match is None:
        raise ValueError(f"{zone!r} is not the id of an availability zone with a number from 1 to 7")
    return int(match.group(1))


def part(cidr: IPv4Network, number: int) -> IPv4Network:
    """Return one of the equal parts of a range. Raises ValueError for a range that is too small."""
    bits, smallest = PARTS_PER_RANGE.bit_length() - 1, limits().vpc.prefixes[1]
    if cidr.prefixlen + bits > smallest:
        raise ValueError(f"{cidr} cannot be divided into {PARTS_PER_RANGE} subnets of a /{smallest} at least")
    part_size = 1 << (32 - cidr.prefixlen - bits)
    return IPv4Network((int(cidr.network_address) + number * part_size, cidr.prefixlen + bits))


def _planned(environment: Environment, tier: Tier, zones: Iterable[str]) -> Iterable[PlannedSubnet]:
    for zone in zones:
        try:
            subnet = _subnet(environment, tier, zone)
        except ValueError:
            continue
        if subnet is not None:
            yield subnet


def _subnet(environment: Environment, tier: Tier, zone: str) -> PlannedSubnet | None:
    """Return a zone's subnet. Its range depends only on the zone's number, so that a new zone or pool changes no other
    subnet.
    """
    aws = environment.aws
    if tier == "public":
        return PlannedSubnet(zone, tier, part(part(aws.cidr, 0), zone_number(zone)), ("aws", "cidr"))
    if aws.vpc is not None:
        existing = aws.vpc.subnets.get(zone)
        path: DataPath = ("aws", "vpc", "subnets", zone, "cidr")
        return PlannedSubnet(zone, tier, existing.cidr, path, existing.id) if existing is not None else None
    if zone in aws.subnets:
        return PlannedSubnet(zone, tier, aws.subnets[zone], ("aws", "subnets", zone))
    return PlannedSubnet(zone, tier, part(aws.cidr, zone_number(zone)), ("aws", "cidr"))
