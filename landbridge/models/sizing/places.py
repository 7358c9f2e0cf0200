"""Choice of a place for a service: the cheapest number of instances or MIG slices that holds the objective."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from landbridge.models.sizing.queueing import ServiceTime, high_latency, largest_rate


@dataclass(frozen=True, slots=True)
class ServingObjective:
    """Objective: 95 percent of answers within `p95_seconds` at `rate` requests per second, with `spare` places above the need."""

    p95_seconds: float
    rate: float
    spare: int = 0


@dataclass(frozen=True, slots=True)
class WorkerMeasurement:
    """Measurement of one worker on one kind of processor: its service times, its memory, and the cores that it uses."""

    processor: str
    service: ServiceTime
    memory_mib: float
    cores: float


@dataclass(frozen=True, slots=True)
class ServingPlace:
    """Place where workers can run: an instance type or a MIG slice. `usd_hour` is None if no price is known."""

    name: str
    processor: str
    cores: float
    memory_mib: float
    usd_hour: float | None


@dataclass(frozen=True, slots=True)
class SizedPlace:
    """Place with its workers and the number of places that hold the objective, or the reason why none does."""

    place: ServingPlace
    workers: int
    count: int
    p95_seconds: float
    usd_hour: float | None
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the objective is held."""
        return not self.reason


#: Share of a place's memory that workers may use; the rest is the operating system's. Landbridge's choice.
MEMORY_SHARE = 0.8


def sized(
    objective: ServingObjective, measurements: Sequence[WorkerMeasurement], places: Iterable[ServingPlace]
) -> list[SizedPlace]:
    """Return the places by cost: those that hold the objective first, without a known price last, then those that do not.

    Service times are not carried from one kind of processor to another: a place of a kind that was not measured is left out.
    """
    by_processor = {each.processor: each for each in measurements}
    rows = [row for place in places for row in _rows(objective, by_processor.get(place.processor), place)]
    return sorted(rows, key=_order)


def _rows(objective: ServingObjective, measured: WorkerMeasurement | None, place: ServingPlace) -> Iterator[SizedPlace]:
    if measured is None:
        return
    by_memory = int(place.memory_mib * MEMORY_SHARE / measured.memory_mib)
    workers = min(int(place.cores / measured.cores), by_memory)
    if workers < 1:
        need = f"a worker needs {measured.memory_mib:.0f} MiB and {measured.cores:g} cores"
        yield SizedPlace(place, 0, 0, 0.0, None, need)
        return
    service = measured.service
    capacity = largest_rate(service, workers, objective.p95_seconds)
    if capacity <= 0:
        reason = f"97.5 percent of requests need up to {service.high * 1000:.1f} ms without a wait"
        yield SizedPlace(place, workers, 0, service.high, None, reason)
        return
    needed = max(1, ceil(objective.rate / capacity))
    latency = high_latency(service, objective.rate / needed, workers)
    count = needed + objective.spare
    yield SizedPlace(place, workers, count, latency, None if place.usd_hour is None else place.usd_hour * count)


def _order(row: SizedPlace) -> tuple[bool, bool, float, int, str]:
    return (not row.holds, row.usd_hour is None, row.usd_hour or 0.0, row.count, row.place.name)
