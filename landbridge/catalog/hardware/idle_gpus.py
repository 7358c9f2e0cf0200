"""Thresholds of the judgement of idle GPUs (idle_gpus.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class IdleValue(Facts):
    """Value with its source."""

    value: float
    source: str


class IdleGpuFacts(Facts):
    """Facts of idle_gpus.yaml."""

    source: str
    as_of: date = Field(alias="date")
    used_percent: IdleValue
    work_watts: IdleValue
    idle_share: IdleValue
    held_mib: IdleValue
    covered_share: IdleValue
    window_minutes: IdleValue
    grace_minutes: IdleValue
    keep_hours: IdleValue


@cache
def idle_gpus() -> IdleGpuFacts:
    """Return the facts (cached)."""
    return read("idle_gpus", IdleGpuFacts)
