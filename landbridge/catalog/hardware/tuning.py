"""Kernel settings of hosts by purpose (tuning.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

Profile = Literal["gpu_node", "service"]


class KernelSetting(Facts):
    """Value of a sysctl key, and the reason to change the distribution's value."""

    value: int | str
    why: str


class Limit(Facts):
    """Line of limits.conf(5)."""

    domain: str
    type: Literal["-", "hard", "soft"]
    item: str
    value: str
    why: str


class TuningProfile(Facts):
    """Kernel settings of hosts of one purpose; an absent setting keeps the distribution's value."""

    transparent_huge_pages: Literal["always", "madvise", "never"] | None = None
    governor: str | None = None
    kernel: Mapping[str, KernelSetting]
    kernel_where_known: Mapping[str, KernelSetting] = {}
    limits: tuple[Limit, ...] = ()


class PcieSetting(Facts):
    """Setting of the PCIe tree of nodes of some platforms (patterns of names), and the reason.

    `left_to`: packages of NVIDIA's operating system that make the setting themselves.
    """

    kind: Literal["boot_argument", "driver_parameter", "acs_off"]
    value: str
    platforms: tuple[str, ...]
    left_to: tuple[str, ...]
    why: str
    source: str


class _Tuning(Facts):
    source: str
    as_of: date = Field(alias="date")
    profiles: Mapping[Profile, TuningProfile]
    pcie: tuple[PcieSetting, ...]


@cache
def tuning_profiles() -> Mapping[Profile, TuningProfile]:
    """Return the profiles by name (cached)."""
    return read("tuning", _Tuning).profiles


@cache
def pcie_settings() -> tuple[PcieSetting, ...]:
    """Return the settings of the PCIe tree of on-prem nodes (cached)."""
    return read("tuning", _Tuning).pcie
