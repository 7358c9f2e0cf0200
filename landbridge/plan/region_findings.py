"""Findings of an environment in another region, with their paths mapped to the environment file."""

from dataclasses import replace

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding


def in_other_region(finding: Finding, region: str, there: Environment) -> Finding | None:
    """Map a finding about `there` (`in_region(environment, region)`) to the file; None if it is not about that region.

    What is about a region or a range there, about a pool's capacity there, or about its type being there, is about the region.
    """
    path = _in_file(finding.path, region, there)
    if path is None:
        return None
    related = (found for other in finding.related if (found := _in_file(other, region, there)) is not None)
    return replace(finding, path=path, related=tuple(dict.fromkeys(related)))


def in_other_region_or_at_its_key(finding: Finding, region: str, there: Environment) -> Finding:
    """Map a finding as `in_other_region`; any other finding is reported at the region's key."""
    found = in_other_region(finding, region, there)
    return found or replace(finding, path=("aws", "other_regions", region), related=())


def _in_file(path: DataPath, region: str, there: Environment) -> DataPath | None:
    own: DataPath = ("aws", "other_regions", region)
    match path:
        case ("region",):
            return own
        case ("aws", "cidr" | "subnets", *_):
            return (*own, *path[1:])
        case ("aws", "pools", int(index), "capacity", *rest):
            return (*own, "pools", there.aws.pools[index].name, "capacity", *rest)
        case ("aws", "pools", int(index), "instance"):
            # The type is the pool's; that it is not to be had is the region's.
            return (*own, "pools", there.aws.pools[index].name)
        case _:
            return None
