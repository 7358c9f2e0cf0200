"""AWS regions: zones, partition and services (regions.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, Literal

from pydantic import Field, model_validator

from landbridge.catalog.aws.instances import InstanceType
from landbridge.catalog.files import Facts, Ids, read

Partition = Literal["aws", "aws-us-gov", "aws-cn"]


class Region(Facts):
    """AWS region. `geography`: the jurisdiction (`us`, `eu`, `uk`, ...). `services`: names in regions.yaml.

    `offerings`: granularity of the recorded instance types; None: not recorded. `openzfs`: deployment types; None: not
    recorded.
    """

    name: str
    zones: Ids
    partition: Partition = "aws"
    geography: str
    services: frozenset[str] = frozenset()
    offerings: Literal["zones", "types"] | None = None
    openzfs: frozenset[str] | None = None


class _Service(Facts):
    source: str
    as_of: date | None = Field(default=None, alias="date")
    regions: tuple[str, ...]


class _Regions(Facts):
    source: str
    as_of: date = Field(alias="date")
    regions: Mapping[str, Region]
    services: Mapping[str, _Service]

    @model_validator(mode="before")
    @classmethod
    def _services_of_each(cls, data: Any) -> Any:
        services = data["services"]
        unlisted_regions = {name for row in services.values() for name in row["regions"]} - set(data["regions"])
        if unlisted_regions:
            raise ValueError(f"services in regions that are not listed: {', '.join(sorted(unlisted_regions))}")
        facts = {
            name: {
                **row,
                "services": [word for word, service in services.items() if name in service["regions"]]
                + [f"fsx_openzfs_{deployment}" for deployment in row.get("openzfs", ())],
            }
            for name, row in data["regions"].items()
        }
        return {**data, "regions": facts}


@cache
def _read() -> _Regions:
    return read("regions", _Regions)


def regions() -> Mapping[str, Region]:
    """Return the regions by name."""
    return _read().regions


def services() -> frozenset[str]:
    """Return the service names with recorded regions; the regions of other services are not known."""
    return frozenset(_read().services)


def zones(region: str) -> tuple[str, ...]:
    """Return the availability zone ids of a region; empty for an unknown region."""
    facts = regions().get(region)
    return facts.zones if facts else ()


def offered(kind: InstanceType, region: str) -> bool | None:
    """Return true if the region offers the type, or one of its zones does; None if that is not recorded."""
    if kind.zones_in(zones(region)) or region in kind.regions:
        return True
    facts = regions().get(region)
    return None if facts is None or facts.offerings is None else False
