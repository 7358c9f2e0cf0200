"""AWS's regions: zones, partition, and which services are there (regions.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from landbridge.catalog.files import Facts, Ids, read
from landbridge.catalog.instances import InstanceType

Partition = Literal["aws", "aws-us-gov", "aws-cn"]


class Region(Facts):
    """One region. `offerings`: how finely it is recorded which instance types there are; None: it is not."""

    zones: Ids
    partition: Partition = "aws"
    geography: str
    services: frozenset[str] = frozenset()
    offerings: Literal["zones", "types"] | None = None


class _Regions(Facts):
    source: str
    date: date
    regions: Mapping[str, Region]


@cache
def regions() -> Mapping[str, Region]:
    """Regions by name."""
    return read("regions", _Regions).regions


def zones(region: str) -> tuple[str, ...]:
    """Availability zone ids of a region; none for a region that is not known."""
    found = regions().get(region)
    return found.zones if found else ()


def offered(kind: InstanceType, region: str) -> bool | None:
    """Whether the region offers the type; None where that is not recorded. Its zones are a finer question."""
    if kind.zones_in(zones(region)) or region in kind.regions:
        return True
    found = regions().get(region)
    return None if found is None or found.offerings is None else False
