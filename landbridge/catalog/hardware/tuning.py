"""Kernel settings of hosts by purpose (tuning.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

Profile = Literal["gpu_node", "service"]


class KernelSetting(Facts):
    """A value of a sysctl key, and why it is not the distribution's."""

    value: int | str
    why: str


class Limit(Facts):
    """A line of limits.conf(5)."""

    domain: str
    type: Literal["-", "hard", "soft"]
    item: str
    value: str
    why: str


class TuningProfile(Facts):
    """Kernel settings of hosts of one purpose; a setting that is absent stays as the distribution has it."""

    transparent_huge_pages: Literal["always", "madvise", "never"] | None = None
    governor: str | None = None
    kernel: Mapping[str, KernelSetting]
    kernel_where_known: Mapping[str, KernelSetting] = {}
    limits: tuple[Limit, ...] = ()


class _Tuning(Facts):
    source: str
    as_of: date = Field(alias="date")
    profiles: Mapping[Profile, TuningProfile]


@cache
def tuning_profiles() -> Mapping[Profile, TuningProfile]:
    """The profiles by name."""
    return read("tuning", _Tuning).profiles
