"""Locations of nodes: the zone and the instance type. The nodes of a job in AWS have one zone, and one type in each pool."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from landbridge.burst.model import BurstPolicy, PoolPolicy, State
from landbridge.burst.reconcile.instances.garbage_collection import instance_to_keep
from landbridge.burst.reconcile.observed import Observed


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """Zone and instance type of a node. EFA traffic does not leave a zone, and equal ranks need equal instances."""

    zone: str
    instance_type: str

    def __str__(self) -> str:
        return f"{self.instance_type}/{self.zone}"


@dataclass(frozen=True, slots=True)
class CommonLocation:
    """Zone of all nodes of a job, and their instance type in each of its pools."""

    zone: str
    types: Mapping[str, str]  # pool -> instance type

    def has(self, location: Location, pool: str) -> bool:
        return location.zone == self.zone and location.instance_type == self.types.get(pool, location.instance_type)


def locate(observed: Observed, nodes: Iterable[str]) -> dict[str, Location]:
    """Return the locations of the nodes that have an instance in one of their pool's zones."""
    locations: dict[str, Location] = {}
    for node in nodes:
        pool, offering = observed.pools.get(node), None
        if pool is None:
            continue
        if node in observed.living:
            instance = instance_to_keep(observed, node, observed.living[node])
            offering = next((offering for offering in pool.offerings if offering.subnet == instance.subnet), None)
            if offering is not None:
                locations[node] = Location(offering.zone, instance.type)
        elif node in observed.unseen:
            offering = observed.offerings.get(observed.unseen[node].offering)
            if offering is not None:
                locations[node] = Location(offering.zone, offering.instance_type)
    return locations


def locate_by_journal(state: State, policy: BurstPolicy, nodes: Iterable[str]) -> dict[str, Location]:
    """Return the locations of nodes by their latest launches in the journal, which needs no call of AWS."""
    offerings = {offering.key: offering for pool in policy.pools.values() for offering in pool.offerings}
    wanted, locations = frozenset(nodes), dict[str, Location]()
    for attempt in sorted(state.attempts.values(), key=lambda attempt: attempt.created_at):
        offering = offerings.get(attempt.offering)
        if offering is not None:
            location = Location(offering.zone, offering.instance_type)
            locations.update(dict.fromkeys(wanted.intersection(attempt.instances), location))
    return locations


def are_apart(locations: Mapping[str, Location], pools: Mapping[str, PoolPolicy]) -> bool:
    """Return whether the nodes are in several zones, or the nodes of one pool have several instance types."""
    types: dict[str, str] = {}
    zones = {location.zone for location in locations.values()}
    return len(zones) > 1 or any(
        types.setdefault(pools[node].name, location.instance_type) != location.instance_type
        for node, location in locations.items()
    )


def common_location(
    locations: Mapping[str, Location],
    pools: Mapping[str, PoolPolicy],
    fixed: Collection[str] = (),
    idle: Mapping[str, Location] | None = None,
) -> CommonLocation | None:
    """Return where a job with nodes at `locations` can have all its nodes with the fewest launches.

    It has the `fixed` nodes, then the most nodes of the job and `idle` ones, then the first offering of the pool.
    """
    if not locations:
        return None
    known = {**(idle or {}), **locations}
    order = dict.fromkeys(offering.zone for node in locations for offering in pools[node].offerings)
    zone = _most({node: location.zone for node, location in known.items()}, locations, fixed, tuple(order))
    types: dict[str, str] = {}
    for pool in {pools[node].name: pools[node] for node in locations}.values():
        in_zone = {
            node: location.instance_type
            for node, location in known.items()
            if location.zone == zone and pools[node].name == pool.name
        }
        if not in_zone.keys().isdisjoint(locations):
            order = dict.fromkeys(offering.instance_type for offering in pool.offerings)
            types[pool.name] = _most(in_zone, locations, fixed, tuple(order))
    return CommonLocation(zone, types)


def _most(values: Mapping[str, str], of_job: Collection[str], fixed: Collection[str], order: Sequence[str]) -> str:
    """Return the value that most nodes have, among the values of the job's nodes."""
    counts = Counter(values.values())
    has_fixed = {values[node] for node in fixed if node in values}

    def rank(value: str) -> tuple[bool, int, int, str]:
        return value not in has_fixed, -counts[value], order.index(value) if value in order else len(order), value

    return min({values[node] for node in of_job if node in values}, key=rank)


def describe(locations: Mapping[str, Location]) -> str:
    """Return the locations with their numbers of nodes, the most nodes first: `p5/a (2), p5/b (1)`."""
    counts = Counter(locations.values())
    return ", ".join(
        f"{location} ({count})" for location, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
