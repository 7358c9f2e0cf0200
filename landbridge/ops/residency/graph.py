"""Graph of data: places that hold or handle it, and crossings between them with their barriers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from landbridge.findings import DataPath

#: Location of a place that is neither at the site nor in a known region of AWS.
OUTSIDE = "outside"
ONPREM = "onprem"
#: Data class of a place that is for no data.
NO_CLASS = ""


def in_words(location: str) -> str:
    """Return a location as a part of a sentence."""
    return "on-prem" if location == ONPREM else f"in {location}"


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Place that holds or handles data. `location` is `onprem`, a region of AWS or `outside`; `data_class` is the only
    class that belongs there, None: every class that may be at the location.
    """

    key: str
    title: str
    location: str
    data_class: str | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """One check between two places, independent of the others. `open`: it lets data pass; `why` says for which reason.
    `path` is its position in the environment file.
    """

    name: str
    open: bool
    why: str
    path: DataPath
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Crossing:
    """Connection of two places. Data crosses if every barrier is open. `classes`: the only classes whose data the
    configuration sends across; None: every class.
    """

    source: str
    target: str
    barriers: tuple[Barrier, ...]
    classes: frozenset[str] | None = None

    @property
    def is_open(self) -> bool:
        """Return whether data crosses."""
        return all(barrier.open for barrier in self.barriers)

    def carries(self, data_class: str) -> bool:
        """Return whether the configuration sends data of a class across."""
        return self.classes is None or data_class in self.classes


@dataclass(slots=True)
class DataGraph:
    """Places by key, and crossings by their source."""

    places: dict[str, DataPlace] = field(default_factory=dict)
    crossings: dict[str, list[Crossing]] = field(default_factory=dict)

    def add(self, place: DataPlace) -> str:
        """Add a place, and return its key. A second place with the key is the same one."""
        return self.places.setdefault(place.key, place).key

    def cross(
        self, source: str, target: str, barriers: Iterable[Barrier], classes: Iterable[str] | None = None
    ) -> None:
        """Add a crossing between two known places; a crossing from or to an unknown place is not added."""
        if source in self.places and target in self.places:
            only = None if classes is None else frozenset(classes)
            self.crossings.setdefault(source, []).append(Crossing(source, target, tuple(barriers), only))

    def flow(self, source: str, target: str, why: str, path: DataPath, *, classes: Iterable[str] | None = None) -> None:
        """Add a crossing that nothing closes."""
        self.cross(source, target, [Barrier("configuration", True, why, path)], classes)

    def from_place(self, key: str) -> Iterator[Crossing]:
        """Yield the crossings of a place."""
        yield from self.crossings.get(key, ())
