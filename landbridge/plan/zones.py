"""Where in a region things can be: zones as sets of ids, and a choice among them as an intersection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from landbridge import catalog
from landbridge.environment import Environment, Pool, capacity_zones


@dataclass(frozen=True, slots=True)
class CommonZones:
    """Where pools can be together: `zones` in the first pool's order, and for each other zone who cannot be there."""

    zones: tuple[str, ...]
    absent: Mapping[str, tuple[str, ...]]


def offered_zones(types: Iterable[str], region: str) -> tuple[str, ...]:
    """The zones of `region`, in its order, that are known to offer every one of `types`.

    A type that the catalogue does not know is offered nowhere, as far as is known. No type at all: every zone.
    """
    found = catalog.zones(region)
    for name in types:
        kind = catalog.instances().get(name)
        found = kind.zones_in(found) if kind is not None else ()
    return found


def pool_zones(pool: Pool, region: str) -> tuple[str, ...]:
    """The zones a pool may use, each once, in the order in which its capacities name them.

    A capacity that names none may be wherever its type is offered.
    """
    named = (
        capacity_zones(capacity) or offered_zones([capacity.instance or pool.instance], region)
        for capacity in pool.capacity
    )
    return tuple(dict.fromkeys(zone for zones in named for zone in zones))


def common_zones(pools: Iterable[Pool], region: str) -> CommonZones:
    """The zones that all of `pools` may use. Storage in one zone, and every gang, needs at least one."""
    of = {pool.name: pool_zones(pool, region) for pool in pools}
    every = tuple(dict.fromkeys(zone for zones in of.values() for zone in zones))
    absent = {zone: tuple(name for name, zones in of.items() if zone not in zones) for zone in every}
    return CommonZones(
        zones=tuple(zone for zone in every if not absent[zone]),
        absent={zone: names for zone, names in absent.items() if names},
    )


def environment_zones(environment: Environment) -> tuple[str, ...]:
    """Every zone that a pool may use, sorted: each needs a subnet."""
    return tuple(sorted({zone for pool in environment.aws.pools for zone in pool_zones(pool, environment.region)}))


def services_zones(environment: Environment) -> tuple[str, ...]:
    """The zone of the services in AWS, and the second one that their database needs; none where a site serves.

    The second follows from the region alone: were it the pools', another pool would move a database.
    """
    services = environment.aws.services
    if services is None:
        return ()
    known = catalog.zones(environment.region)
    at = known.index(services.zone) if services.zone in known else -1
    others = (zone for zone in (*known[at + 1 :], *known[: at + 1]) if zone != services.zone)
    second = services.standby_zone or next(others, None)
    return (services.zone,) if second is None else (services.zone, second)


def storage_zone(environment: Environment, wanted: str | None = None) -> str | None:
    """The one zone of a file system: as named, else the first where all pools can be, else the first pool's first.

    None where there is no pool, or the catalogue knows of no zone for any.
    """
    if wanted is not None:
        return wanted
    pools = environment.aws.pools
    together = common_zones(pools, environment.region).zones
    return next(iter(together), None) or next(
        (zone for pool in pools for zone in pool_zones(pool, environment.region)), None
    )
