"""Capacity of a pool by purchase option. The variant alone decides market options, placement group, zone and drain
time.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text, Usd, Zone

ReservationId = Annotated[str, StringConstraints(pattern=r"^cr-[0-9a-f]{8,17}$")]
ResourceGroupArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:\d{12}:group/.+$")
]
Count = Annotated[int, Field(ge=1, le=1024)]
SpotAllocation = Literal["price_capacity_optimized", "capacity_optimized", "lowest_price"]

_EVERY_ZONE = "none named: every zone of the region that offers the type"
_SAME_TYPE = "an equivalent type for this capacity; none: the pool's own"
_COUNT = "instances in it, as bought; none: known to AWS only, and `landbridge preflight` compares"


class OnDemand(Model):
    """Paid by the second, started when there is room."""

    kind: Literal["on_demand"]
    zones: tuple[Zone, ...] = Field(default=(), description=_EVERY_ZONE)
    instance: Text | None = Field(default=None, description=_SAME_TYPE)


class Spot(Model):
    """Spare capacity, taken back with two minutes' notice."""

    kind: Literal["spot"]
    zones: tuple[Zone, ...] = Field(default=(), description=_EVERY_ZONE)
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    max_price_usd: Usd | None = Field(
        default=None, gt=0, description="per instance and hour; none: up to the on-demand price"
    )
    allocation: SpotAllocation = Field(
        default="price_capacity_optimized", description="the cheapest pool alone is the one taken back first"
    )


class Reservation(Model):
    """An on-demand capacity reservation: `targeted` launches name it, `open` ones fall into it."""

    kind: Literal["reservation"]
    reservation: ReservationId
    zone: Zone
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    match: Literal["targeted", "open"] = Field(
        default="targeted", description="an open match may be used up by other launches"
    )
    count: Count | None = Field(default=None, description=_COUNT)
    placement_group: Text | None = Field(
        default=None, description="the group it was made in: only launches into that group find it"
    )


class ReservationGroup(Model):
    """Several reservations behind one service-linked resource group."""

    kind: Literal["reservation_group"]
    group: ResourceGroupArn
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    count: Count | None = Field(default=None, description=_COUNT)


class CapacityBlock(Model):
    """Instances bought in advance for a window; the whole window is billed, whatever runs."""

    kind: Literal["capacity_block"]
    reservation: ReservationId
    zone: Zone
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    count: Count | None = Field(default=None, description=_COUNT)
    starts: datetime | None = None
    ends: datetime | None = Field(default=None, description="AWS starts to reclaim 30 minutes before")


AnyCapacity = OnDemand | Spot | Reservation | ReservationGroup | CapacityBlock
Capacity = Annotated[AnyCapacity, Field(discriminator="kind")]


def capacity_zones(capacity: AnyCapacity) -> tuple[str, ...]:
    """The availability zone ids this capacity names; empty means every zone that offers the type."""
    match capacity:
        case Reservation() | CapacityBlock():
            return (capacity.zone,)
        case _:
            return capacity.zones
