"""What each way of buying capacity means for a launch: the variant alone decides."""

from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import instances, zones
from landbridge.environment import (
    Capacity,
    CapacityBlock,
    OnDemand,
    Pool,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)

Market = Literal["on-demand", "spot", "capacity-block"]


@dataclass(frozen=True, slots=True)
class CapacityPlan:
    """One way to launch a pool's instances.

    `placement_group` is off where a group could miss capacity that is there; `whole_block` means that every instance is
    started at once, because the window is billed whatever runs; `drain_seconds` is how long before the end nodes stop
    taking jobs.
    """

    market: Market
    zones: tuple[str, ...]
    placement_group: bool
    reservation: str | None = None
    reservation_group: str | None = None
    max_price_usd: float | None = None
    whole_block: bool = False
    drain_seconds: int = 0


def capacity_plan(capacity: Capacity, instance_type: str, region: str) -> CapacityPlan:
    """The launch that a capacity entry stands for."""
    offered = instances()[instance_type].zones_in(zones(region))
    where = capacity_zones(capacity) or offered
    match capacity:
        case OnDemand():
            return CapacityPlan("on-demand", where, placement_group=True)
        case Spot():
            # Spot instances get two minutes' notice.
            return CapacityPlan(
                "spot", where, placement_group=True, max_price_usd=capacity.max_price_usd, drain_seconds=120
            )
        case Reservation():
            # A reservation made outside a placement group is not matched by launches into one.
            targeted = capacity.reservation if capacity.match == "targeted" else None
            return CapacityPlan("on-demand", where, placement_group=False, reservation=targeted)
        case ReservationGroup():
            return CapacityPlan("on-demand", where, placement_group=False, reservation_group=capacity.group)
        case CapacityBlock():
            # AWS reclaims 30 minutes before the end; a job needs time to write its checkpoint before that.
            return CapacityPlan(
                "capacity-block",
                where,
                placement_group=False,
                reservation=capacity.reservation,
                whole_block=True,
                drain_seconds=45 * 60,
            )


def pool_plans(pool: Pool, region: str) -> tuple[CapacityPlan, ...]:
    """Every way to launch a pool, in the order in which they are tried."""
    return tuple(capacity_plan(capacity, pool.instance, region) for capacity in pool.capacity)


def pool_zones(pool: Pool, region: str) -> tuple[str, ...]:
    """Every availability zone id in which the pool may have instances, in the order of its capacity."""
    return tuple(dict.fromkeys(zone for plan in pool_plans(pool, region) for zone in plan.zones))


def aws_zones(pools: tuple[Pool, ...], region: str) -> tuple[str, ...]:
    """The zones that need a subnet, sorted: those of the pools, or the region's first two when there is no pool."""
    named = {zone for pool in pools for zone in pool_zones(pool, region)}
    return tuple(sorted(named)) or zones(region)[:2]
