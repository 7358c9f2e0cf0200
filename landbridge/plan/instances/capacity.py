"""Terms of a capacity: market, placement, size and drain time, which depend only on its kind.

docs/explanation/capacity.md explains the choices; a test compares its table with this module.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from landbridge.catalog import instances, limits
from landbridge.environment import (
    AnyCapacity,
    CapacityBlock,
    OnDemand,
    PoolSettings,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.plan.args import Args, MarketKind
from landbridge.plan.zones import offered_zones

Strategy = Literal["cluster", "partition", "spread"]


class Market(Args):
    """Market options of an instance, as in a launch template."""

    kind: MarketKind
    max_price_usd: float | None = None
    reservation: str | None = None
    reservation_group: str | None = None
    preference: Literal["open"] | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of one capacity of a pool.

    `zones` is empty if the file has none and no region was passed. `placement` is the strategy of the launches'
    placement group, None without a group; `placement_group` is the name of an existing group. `size` is the number of
    available instances, None if unknown; with `fixed_size` all of them are paid, so that minimum and maximum are both
    `size`. Jobs must have left a node `drain` before the capacity ends (at `ends`, or after a spot interruption
    notice).
    """

    kind: str
    instance: str
    market: Market
    zones: tuple[str, ...]
    placement: Strategy | None = None
    placement_group: str | None = None
    fixed_size: bool = False
    size: int | None = None
    drain: timedelta | None = None
    starts: datetime | None = None
    ends: datetime | None = None

    @property
    def leave_by(self) -> datetime | None:
        """Time by which the last job must have ended; None for capacity without an end."""
        return self.ends - self.drain if self.ends is not None and self.drain is not None else None

    def bounds(self, pool: PoolSettings) -> tuple[int, int]:
        """Return the minimum and maximum number of instances of this capacity that `pool` keeps."""
        if self.fixed_size and self.size is not None:
            return self.size, self.size
        maximum = pool.max_nodes if self.size is None else min(pool.max_nodes, self.size)
        return min(pool.min_nodes, maximum), maximum


def terms(pool: PoolSettings, capacity: AnyCapacity, region: str | None = None) -> Terms:
    """Return the terms of one capacity of a pool; without zones in the file, `zones` are the zones of `region` that
    offer the type.
    """
    instance = capacity.instance or pool.instance
    zones = capacity_zones(capacity) or (offered_zones([instance], region) if region is not None else ())
    match capacity:
        case OnDemand():
            strategy, group = _free_placement(pool, instance)
            return Terms(capacity.kind, instance, Market(kind="on-demand"), zones, strategy, group)
        case Spot():
            strategy, group = _free_placement(pool, instance)
            market = Market(kind="spot", max_price_usd=capacity.max_price_usd)
            return Terms(
                capacity.kind,
                instance,
                market,
                zones,
                strategy,
                group,
                drain=timedelta(minutes=limits().spot.notice_minutes),
            )
        case Reservation():
            # A reservation in a placement group serves launches into that group only; one without a group serves
            # launches without one.
            placement_group = capacity.placement_group
            market = Market(
                kind="on-demand",
                reservation=capacity.reservation,
                preference="open" if capacity.match == "open" else None,
            )
            return Terms(
                capacity.kind,
                instance,
                market,
                zones,
                "cluster" if placement_group else None,
                placement_group,
                size=capacity.count,
            )
        case ReservationGroup():
            market = Market(kind="on-demand", reservation_group=capacity.group)
            return Terms(capacity.kind, instance, market, zones, size=capacity.count)
        case CapacityBlock():
            return Terms(
                capacity.kind,
                instance,
                Market(kind="capacity-block", reservation=capacity.reservation),
                zones,
                fixed_size=True,
                size=capacity.count or pool.max_nodes,
                drain=_reclaim(instance),
                starts=capacity.starts,
                ends=capacity.ends,
            )


def fallbacks(pool: PoolSettings, region: str) -> tuple[Terms, ...]:
    """Return the terms of every capacity of a pool, in the order of launch attempts."""
    return tuple(terms(pool, capacity, region) for capacity in pool.capacity)


def kept_nodes(pool: PoolSettings, region: str) -> int:
    """Return the number of nodes that a pool keeps running: min_nodes, or the size of the prepaid capacity if that is
    larger.
    """
    return max(pool.min_nodes, *(terms.bounds(pool)[0] for terms in fallbacks(pool, region)))


def _reclaim(instance: str) -> timedelta:
    """Return the time before a Capacity Block's end at which AWS starts to terminate its instances."""
    blocks, kind = limits().capacity_blocks, instances().get(instance)
    is_ultraserver = kind is not None and kind.ultraserver is not None
    return timedelta(minutes=blocks.reclaim_minutes_ultraserver if is_ultraserver else blocks.reclaim_minutes)


def _free_placement(pool: PoolSettings, instance: str) -> tuple[Strategy | None, str | None]:
    """Return strategy and existing group of capacity that allows a choice: as configured, else cluster if the type
    supports it.
    """
    if pool.placement == "none":
        return None, None
    if pool.placement is not None or pool.placement_group is not None:
        return pool.placement or "cluster", pool.placement_group
    kind = instances().get(instance)
    return ("cluster" if kind is None or "cluster" in kind.placement else None), None


def boot_seconds(pool: PoolSettings) -> int:
    """Return the longest time in seconds that is paid before a job starts: the slowest known boot, at most
    ResumeTimeout.
    """
    return min(60 * limits().boot.minutes[1], pool.resume_timeout)
