"""Rules about IPv4 ranges of both sites."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from landbridge.catalog.aws.limits import limits
from landbridge.catalog.network import network
from landbridge.environment import Environment
from landbridge.environment.cached import cached
from landbridge.environment.link import LineVpn
from landbridge.findings import DataPath, Finding, Severity, error, warning
from landbridge.plan.network.addresses import Overlap, Range, overlaps, ranges
from landbridge.plan.network.link import connections
from landbridge.plan.network.subnets import PARTS_PER_RANGE, nat_zones, used_zones
from landbridge.rules.environment_paths import POOL_ZONES
from landbridge.rules.registry import rule

_VPC: DataPath = ("aws", "cidr")
_all_overlaps = cached(overlaps)


@rule
def overlapping_cidrs(environment: Environment) -> Iterator[Finding]:
    """No two ranges overlap: packets for one are routed to the other.

    Docker's default bridge (172.17.0.0/16), pods' and services' ranges count too: they hide the site's addresses on
    every node that has them. Two container ranges may overlap each other.
    Source: Amazon VPC User Guide, "VPC CIDR blocks"; Docker and Kubernetes networking guides.
    """
    overlaps = _all_overlaps(environment)
    for overlap in overlaps:
        # An overlap of a range is not repeated for its parts.
        if _follows(overlap, overlaps):
            continue
        first, second = overlap.first, overlap.second
        if _is_default(environment, second) and not _is_default(environment, first):
            first, second = second, first
        message = f"{second.name} {second.cidr} overlaps {first.name} {first.cidr}"
        fix = "choose ranges that do not overlap"
        yield error(second.path, message, fix=fix, related=(first.path,))


@rule
def private_cidr(environment: Environment) -> Iterator[Finding]:
    """Ranges of both sites are private: a public one makes its real owner unreachable.

    On-prem a warning, because an organisation may use its own public addresses.
    Source: RFC 1918, RFC 6598; Amazon VPC User Guide, "VPC CIDR blocks".
    """
    for cidr_range in ranges(environment):
        if cidr_range.kind not in ("site", "vpc", "region"):
            continue
        unusable = next((bad for bad in network().unusable if cidr_range.cidr.overlaps(bad)), None)
        if unusable is not None:
            message = f"{cidr_range.name} {cidr_range.cidr} is in {unusable}, which is reserved"
            yield error(cidr_range.path, message, fix="use a range inside 10.0.0.0/8")
        elif not network().is_private(cidr_range.cidr) and not cidr_range.cidr.subnet_of(network().benchmark):
            fix = "use a range inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
            severity = Severity.WARNING if cidr_range.kind == "site" else Severity.ERROR
            message = f"{cidr_range.name} {cidr_range.cidr} is public address space"
            yield Finding("private-cidr", message, cidr_range.path, fix, severity)


@rule
def range_used_by_aws(environment: Environment) -> Iterator[Finding]:
    """The VPC does not overlap ranges that AWS services use internally: they cannot reach it.

    Source: Amazon VPC User Guide, "VPC CIDR blocks": 172.17.0.0/16.
    """
    overlapping_paths = {overlap.second.path for overlap in _all_overlaps(environment)}
    for path, cidr in _vpc_ranges(environment):
        for used, reason in limits().vpc.used_elsewhere.items():
            if cidr.overlaps(used) and path not in overlapping_paths:
                message = f"{cidr} overlaps {used}: {reason}"
                yield warning(path, message, fix="choose another range")


@rule
def vpc_size(environment: Environment) -> Iterator[Finding]:
    """A VPC range is a /16 to a /28; one that Landbridge divides into subnets is larger.

    Each zone's subnet is 1/8 of aws.cidr unless aws.subnets has one; the subnet of a NAT gateway is 1/64.
    Source: Amazon VPC User Guide, "VPC CIDR blocks" and "Subnet CIDR blocks".
    """
    largest, smallest = limits().vpc.prefixes
    for path, cidr in _vpc_ranges(environment):
        if not largest <= cidr.prefixlen <= smallest:
            message = f"the VPC range is a /{cidr.prefixlen}; AWS allows a /{largest} to a /{smallest}"
            yield error(path, message)
    aws = environment.aws
    if aws.vpc is not None or not largest <= aws.cidr.prefixlen <= smallest:
        return
    zones, bits = used_zones(environment), PARTS_PER_RANGE.bit_length() - 1
    extra_bits = 2 * bits if nat_zones(environment, zones) else bits if set(zones) - set(aws.subnets) else 0
    max_prefix = smallest - extra_bits
    if aws.cidr.prefixlen > max_prefix:
        condition = "with NAT gateways" if extra_bits > bits else "without aws.subnets"
        message = f"the VPC range is a /{aws.cidr.prefixlen}; a VPC {condition} needs a /{largest} to a /{max_prefix}"
        related: tuple[DataPath, ...] = (("aws", "nat"), ("aws", "subnets"), ("aws", "vpc"), *POOL_ZONES)
        yield error(_VPC, message, fix="widen aws.cidr, or write aws.subnets", related=related)


@rule
def secondary_cidr(environment: Environment) -> Iterator[Finding]:
    """AWS allows a secondary range with the VPC's other ranges: a VPC in 10.0.0.0/8 cannot have another private range.

    Source: Amazon VPC User Guide, "IPv4 CIDR block association restrictions" and "Amazon VPC quotas".
    """
    vpc_cidrs = [environment.aws.cidr]
    for index, cidr in enumerate(environment.aws.secondary_cidrs):
        path: DataPath = ("aws", "secondary_cidrs", index)
        for row in network().together:
            owner = next((vpc_range for vpc_range in vpc_cidrs if vpc_range.overlaps(row.has)), None)
            forbidden = next((bad for bad in row.without if cidr.overlaps(bad)), None)
            # A range beside one of its own kind is checked by that row only.
            if owner is not None and forbidden is not None and not cidr.overlaps(owner):
                message = f"AWS does not allow a range in {forbidden} in a VPC with {owner}"
                fix = f"use a range in {network().carrier}, or in the same private range as {owner}"
                yield error(path, message, fix=fix, related=(_VPC, ("aws", "secondary_cidrs")))
                break
        vpc_cidrs.append(cidr)
    allowed = environment.aws.quotas.get("L-83CA0A9D", limits().vpc.ranges)
    if len(vpc_cidrs) > min(allowed, limits().vpc.ranges_raised):
        message = f"{len(vpc_cidrs)} ranges in the VPC; AWS allows {min(allowed, limits().vpc.ranges_raised)}"
        fix = f"request an increase of quota L-83CA0A9D (to {limits().vpc.ranges_raised} at most) and write it in aws.quotas"
        path_of_all: DataPath = ("aws", "secondary_cidrs")
        yield error(path_of_all, message, fix=fix, related=(("aws", "quotas"),))


def _vpc_ranges(environment: Environment) -> Iterator[tuple[DataPath, IPv4Network]]:
    yield _VPC, environment.aws.cidr
    for index, cidr in enumerate(environment.aws.secondary_cidrs):
        yield ("aws", "secondary_cidrs", index), cidr


def _follows(overlap: Overlap, overlaps: tuple[Overlap, ...]) -> bool:
    """Return true if a wider range that contains one of the two overlaps the other too."""
    for part, other in ((overlap.first, overlap.second), (overlap.second, overlap.first)):
        if part.kind != "subnet":
            continue
        for wider in overlaps:
            for container, remainder in ((wider.first, wider.second), (wider.second, wider.first)):
                is_same = remainder.path == other.path or _inside(other, remainder)
                if container.kind == "vpc" and is_same and part.cidr.subnet_of(container.cidr):
                    return True
    return False


def _inside(part: Range, whole: Range) -> bool:
    return part.kind == "subnet" and whole.kind == "vpc" and part.cidr.subnet_of(whole.cidr)


def _is_default(environment: Environment, cidr_range: Range) -> bool:
    """Return true for a default range: the finding is then about the other range."""
    match cidr_range.kind:
        case "container":
            site = environment.onprem
            return site is None or "container_cidrs" not in site.model_fields_set
        case "tunnel":
            link = environment.link
            is_inside_cidr = cidr_range.path == ("link", "inside_cidrs", cidr_range.path[-1])
            return is_inside_cidr and (link is None or "inside_cidrs" not in link.model_fields_set)
        case "line":
            lines = [
                connection.tunnels for connection in connections(environment) if isinstance(connection.tunnels, LineVpn)
            ]
            return all("cidr" not in line.model_fields_set for line in lines)
        case _:
            return False
