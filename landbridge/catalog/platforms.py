"""Kinds of on-prem machines (platforms.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read
from landbridge.catalog.hardware import Accelerators, Cpus


class Platform(Facts):
    """One kind of on-prem machine."""

    gpus: Accelerators
    cpus: Cpus
    memory_mib: int
    power_kw: float
    price_usd: float | None


class _Platforms(Facts):
    source: str
    date: date
    platforms: Mapping[str, Platform]


@cache
def platforms() -> Mapping[str, Platform]:
    """On-prem platforms by name."""
    return read("platforms", _Platforms).platforms
