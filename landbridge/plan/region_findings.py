"""Findings of an environment in another region, with their paths mapped to the environment file."""

from dataclasses import replace

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding


def in_other_region(finding: Finding, region: str, region_environment: Environment) -> Finding | None:
    """Map a finding about `region_environment` (`in_region(environment, region)`) to the file; None if it is not
    specific to that region.

    Specific are findings about the region itself, its CIDR and subnets, a pool's capacity there, and an instance type
    that the region lacks.
    """
    path = _in_file(finding.path, region, region_environment)
    if path is None:
        return None
    related = (
        mapped for other in finding.related if (mapped := _in_file(other, region, region_environment)) is not None
    )
    return replace(finding, path=path, related=tuple(dict.fromkeys(related)))


def in_other_region_or_at_its_key(finding: Finding, region: str, region_environment: Environment) -> Finding:
    """Map a finding as `in_other_region`; any other finding is reported at the region's key."""
    mapped = in_other_region(finding, region, region_environment)
    return mapped or replace(finding, path=("aws", "other_regions", region), related=())


def _in_file(path: DataPath, region: str, region_environment: Environment) -> DataPath | None:
    region_path: DataPath = ("aws", "other_regions", region)
    match path:
        case ("region",):
            return region_path
        case ("aws", "cidr" | "subnets", *_):
            return (*region_path, *path[1:])
        case ("aws", "pools", int(index), "capacity", *remaining_path):
            return (*region_path, "pools", region_environment.aws.pools[index].name, "capacity", *remaining_path)
        case ("aws", "pools", int(index), "instance"):
            # The pool sets the instance type for all regions, but its absence is a fact of this region.
            return (*region_path, "pools", region_environment.aws.pools[index].name)
        case _:
            return None
