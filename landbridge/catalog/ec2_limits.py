"""What EC2 allows of what it sells: windows, sizes, groups, volumes (ec2_limits.yaml)."""

from datetime import date, time
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator

from landbridge.catalog.files import Facts, read


def _clock(text: object) -> object:
    return time.fromisoformat(text) if isinstance(text, str) else text


class CapacityBlocks(Facts):
    """Capacity Blocks. Whole days up to `days`, whole multiples of `long_step_days` up to `long_days`; times are UTC."""

    source: str
    days: int
    long_days: int
    long_step_days: int
    weeks_ahead: int
    instances: int
    instances_all: int
    ends_at: Annotated[time, BeforeValidator(_clock)]
    reclaim_minutes: int


class PlacementGroups(Facts):
    """Placement groups: instances of a spread group and partitions of a partition group in one zone; groups in a region."""

    source: str
    spread_per_zone: int
    partitions_per_zone: int
    groups_per_region: int


class Gp3(Facts):
    """A gp3 volume: the least and the most of everything; IOPS for each GiB and MiB/s for each IOPS at the most."""

    source: str
    gib: tuple[int, int]
    iops: tuple[int, int]
    throughput: tuple[int, int]
    iops_per_gib: int
    throughput_per_iops: float


class Boot(Facts):
    """How long an instance with accelerators takes from its launch until Slurm has it (minutes, quickest and slowest)."""

    source: str
    minutes: tuple[int, int]


class Billing(Facts):
    """`least_seconds`: what every start of an instance costs at least; `least_spot_usd`: the lowest highest price."""

    source: str
    least_seconds: int
    least_spot_usd: float


class Interfaces(Facts):
    """Security groups on one interface: by default, and at the most where AWS has raised the quota."""

    source: str
    security_groups: int
    security_groups_raised: int


class UltraServer(Facts):
    """One UltraServer: which instances are in it, and how many."""

    source: str
    instance: str
    instances: int


class Ec2Limits(Facts):
    """All of them."""

    date: date
    capacity_blocks: CapacityBlocks
    placement_groups: PlacementGroups
    gp3: Gp3
    boot: Boot
    billing: Billing
    interfaces: Interfaces
    ultraservers: dict[str, UltraServer]


@cache
def ec2_limits() -> Ec2Limits:
    """The limits."""
    return read("ec2_limits", Ec2Limits)
