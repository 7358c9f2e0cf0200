"""Observations of GPU faults, limits of their repair, and repeated faults (gpu_health.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read


class FaultKind(Facts):
    """Kind of observation with its action; `count` observations of one GPU within `minutes` require it."""

    action: Literal["reported", "inspect", "reset", "reboot", "repair"]
    count: int = Field(ge=1)
    minutes: float = Field(gt=0)
    source: str
    per_hour: float | None = None


class RepeatedFaults(Facts):
    """Number of repairs of one GPU within a number of days after which it is quarantined."""

    repairs: int = Field(ge=1)
    days: float = Field(gt=0)
    source: str


class RepairLimit(Facts):
    """Minutes until a step of a repair must have a result, and the number of attempts."""

    minutes: float = Field(gt=0)
    attempts: int = Field(ge=1)


class RepairLimits(Facts):
    """Limits of the three steps of a repair."""

    reset: RepairLimit
    reboot: RepairLimit
    retest: RepairLimit


class GpuHealthFacts(Facts):
    """Facts of gpu_health.yaml."""

    source: str
    as_of: date = Field(alias="date")
    kinds: Mapping[str, FaultKind]
    suspect_minutes: float
    repeated: RepeatedFaults
    steps: RepairLimits
    rungs: tuple[str, ...]


@cache
def gpu_health() -> GpuHealthFacts:
    """Return the facts (cached)."""
    return read("gpu_health", GpuHealthFacts)
