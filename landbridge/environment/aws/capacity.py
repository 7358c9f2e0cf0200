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

_EVERY_ZONE = "empty: every zone of the region that offers the type"
_SAME_TYPE = "an equivalent instance type for this capacity; none: the pool's type"
_COUNT = "number of reserved instances; none: only `landbridge preflight` reads it from AWS"


class OnDemand(Model):
    """On-demand instances: billed by the second, launched when EC2 has capacity."""

    kind: Literal["on_demand"]
    zones: tuple[Zone, ...] = Field(default=(), description=_EVERY_ZONE)
    instance: Text | None = Field(default=None, description=_SAME_TYPE)


class Spot(Model):
    """Spot instances: spare capacity that EC2 interrupts with two minutes' notice."""

    kind: Literal["spot"]
    zones: tuple[Zone, ...] = Field(default=(), description=_EVERY_ZONE)
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    max_price_usd: Usd | None = Field(
        default=None, gt=0, description="maximum price in USD per instance and hour; none: the on-demand price"
    )


class Reservation(Model):
    """On-demand capacity reservation: `targeted` launches specify its id, `open` ones use it automatically."""

    kind: Literal["reservation"]
    reservation: ReservationId
    zone: Zone
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    match: Literal["targeted", "open"] = Field(
        default="targeted", description="other launches may use up a reservation with an open match"
    )
    count: Count | None = Field(default=None, description=_COUNT)
    placement_group: Text | None = Field(
        default=None, description="placement group of the reservation: only launches into that group can use it"
    )


class ReservationGroup(Model):
    """Several reservations in one service-linked resource group."""

    kind: Literal["reservation_group"]
    group: ResourceGroupArn
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    count: Count | None = Field(default=None, description=_COUNT)


class CapacityBlock(Model):
    """Capacity Block: instances bought in advance for a period; the whole period is billed, used or not."""

    kind: Literal["capacity_block"]
    reservation: ReservationId
    zone: Zone
    instance: Text | None = Field(default=None, description=_SAME_TYPE)
    count: Count | None = Field(default=None, description=_COUNT)
    ultraserver: Text | None = Field(
        default=None,
        description="UltraServer type of the block, such as u-p6e-gb200x72: a pool that is one UltraServer becomes one "
        "NVLink domain in Slurm",
    )
    starts: datetime | None = None
    ends: datetime | None = Field(
        default=None, description="end of the block; AWS starts to terminate its instances 30 minutes earlier"
    )


AnyCapacity = OnDemand | Spot | Reservation | ReservationGroup | CapacityBlock
Capacity = Annotated[AnyCapacity, Field(discriminator="kind")]


def capacity_zones(capacity: AnyCapacity) -> tuple[str, ...]:
    """Return the availability zone ids of this capacity; empty: every zone that offers the type."""
    match capacity:
        case Reservation() | CapacityBlock():
            return (capacity.zone,)
        case _:
            return capacity.zones
