"""How AWS capacity is bought. The variant alone decides market options, placement group, zone and drain time."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Usd, Zone

ReservationId = Annotated[str, StringConstraints(pattern=r"^cr-[0-9a-f]{8,17}$")]
ResourceGroupArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:\d{12}:group/.+$")
]


class OnDemand(Model):
    """Paid by the second, started when there is room."""

    kind: Literal["on_demand"]
    zones: tuple[Zone, ...] = Field(default=(), description="none named: every zone of the region that offers the type")


class Spot(Model):
    """Spare capacity, taken back with two minutes' notice."""

    kind: Literal["spot"]
    zones: tuple[Zone, ...] = Field(default=(), description="none named: every zone of the region that offers the type")
    max_price_usd: Usd | None = Field(
        default=None, gt=0, description="per instance and hour; none: up to the on-demand price"
    )


class Reservation(Model):
    """An on-demand capacity reservation: `targeted` launches name it, `open` ones fall into it."""

    kind: Literal["reservation"]
    reservation: ReservationId
    zone: Zone
    match: Literal["targeted", "open"] = Field(
        default="targeted", description="an open match may be used up by other launches"
    )


class ReservationGroup(Model):
    """Several reservations behind one service-linked resource group."""

    kind: Literal["reservation_group"]
    group: ResourceGroupArn
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]


class CapacityBlock(Model):
    """Instances bought in advance for a window; the whole window is billed, whatever runs."""

    kind: Literal["capacity_block"]
    reservation: ReservationId
    zone: Zone
    starts: datetime | None = None
    ends: datetime | None = Field(default=None, description="AWS starts to reclaim 30 minutes before")


Capacity = Annotated[OnDemand | Spot | Reservation | ReservationGroup | CapacityBlock, Field(discriminator="kind")]


def capacity_zones(capacity: OnDemand | Spot | Reservation | ReservationGroup | CapacityBlock) -> tuple[str, ...]:
    """The availability zone ids this capacity names; empty means every zone that offers the type."""
    match capacity:
        case Reservation() | CapacityBlock():
            return (capacity.zone,)
        case _:
            return capacity.zones
