"""Availability zones: zones that offer instance types, and zones that pools share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from landbridge import catalog
from landbridge.environment import Environment, PoolSettings, capacity_zones


@dataclass(frozen=True, slots=True)
class CommonZones:
    """Zones that all pools share: `zones` in the first pool's order, and for each other zone the pools that lack it."""

    zones: tuple[str, ...]
    absent: Mapping[str, tuple[str, ...]]


def offered_zones(types: Iterable[str], region: str) -> tuple[str, ...]:
    """Return the zones of `region`, in its order, that offer every one of `types`.

    A type that is not in the catalogue counts as offered in no zone. Without any type: every zone.
    """
    region_zones = catalog.zones(region)
    for name in types:
        kind = catalog.instances().get(name)
        region_zones = kind.zones_in(region_zones) if kind is not None else ()
    return region_zones


def pool_zones(pool: PoolSettings, region: str) -> tuple[str, ...]:
    """Return a pool's zones, each once, in the order of its capacities.

    A capacity without zones may use every zone that offers its type.
    """
    named = (
        capacity_zones(capacity) or offered_zones([capacity.instance or pool.instance], region)
        for capacity in pool.capacity
    )
    return tuple(dict.fromkeys(zone for zones in named for zone in zones))


def common_zones(pools: Iterable[PoolSettings], region: str) -> CommonZones:
    """Return the zones that all of `pools` may use. Storage in one zone, and every gang, needs at least one."""
    by_pool = {pool.name: pool_zones(pool, region) for pool in pools}
    all_zones = tuple(dict.fromkeys(zone for zones in by_pool.values() for zone in zones))
    absent = {zone: tuple(name for name, zones in by_pool.items() if zone not in zones) for zone in all_zones}
    return CommonZones(
        zones=tuple(zone for zone in all_zones if not absent[zone]),
        absent={zone: names for zone, names in absent.items() if names},
    )


def environment_zones(environment: Environment) -> tuple[str, ...]:
    """Return every zone of the pools, sorted: each needs a subnet."""
    return tuple(sorted({zone for pool in environment.aws.pools for zone in pool_zones(pool, environment.region)}))


def services_zones(environment: Environment) -> tuple[str, ...]:
    """Return the zone of the services in AWS, and the database's second zone; empty if services are on-prem.

    The second zone depends on the region only: if it depended on the pools, a new pool could move the database.
    """
    services = environment.aws.services
    if services is None:
        return ()
    region_zones = catalog.zones(environment.region)
    position = region_zones.index(services.zone) if services.zone in region_zones else -1
    others = (zone for zone in (*region_zones[position + 1 :], *region_zones[: position + 1]) if zone != services.zone)
    second = services.standby_zone or next(others, None)
    return (services.zone,) if second is None else (services.zone, second)


def storage_zone(environment: Environment, configured_zone: str | None = None) -> str | None:
    """Return the zone of a file system: as configured, else the first that all pools share, else the first zone of the
    first pool.

    None without pools, or if the catalogue has no zone for any of them.
    """
    if configured_zone is not None:
        return configured_zone
    pools = environment.aws.pools
    shared_zones = common_zones(pools, environment.region).zones
    return next(iter(shared_zones), None) or next(
        (zone for pool in pools for zone in pool_zones(pool, environment.region)), None
    )
