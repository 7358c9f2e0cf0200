"""Defaults of workload classes (placement.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read


class WorkloadDefaults(Facts):
    """Default sites and purchase options of a workload class."""

    sites: tuple[Literal["onprem", "aws"], ...]
    instruments: tuple[str, ...]


class _Placement(Facts):
    source: str
    as_of: date = Field(alias="date")
    classes: Mapping[str, WorkloadDefaults]


@cache
def workload_defaults() -> Mapping[str, WorkloadDefaults]:
    """Return the defaults by name of a workload class (cached)."""
    return read("placement", _Placement).classes
