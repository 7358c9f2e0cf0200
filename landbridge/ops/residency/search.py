"""Search of the graph: shortest paths of a class to places where it may not be, and barriers that are open alone."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from landbridge.findings import Finding, Severity
from landbridge.ops.residency.class_policy import ClassPolicy
from landbridge.ops.residency.graph import Crossing, DataGraph


@dataclass(frozen=True, slots=True)
class ResidencyPath:
    """Path of a class's data to a place where it may not be, with the reason of the refusal."""

    data_class: str
    refusal: str
    places: tuple[str, ...]
    crossings: tuple[Crossing, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether every barrier is open; false: a barrier of the last crossing still holds."""
        return all(crossing.is_open for crossing in self.crossings)

    def findings(self) -> tuple[Finding, ...]:
        """Return the error at the last step, then each step before it, as findings of severity info."""
        last = self.crossings[-1]
        if self.is_complete:
            steps = tuple(self._steps())
            message = f"data of class {self.data_class} reaches {self.places[-1]}: {self.refusal}"
            fix = next((barrier.fix for barrier in last.barriers if barrier.fix), "close one of the steps")
            related = tuple(dict.fromkeys(step.path for step in steps if step.path))
            return (Finding("residency-path", message, last.barriers[0].path, fix, Severity.ERROR, related), *steps)
        opened = [barrier for barrier in last.barriers if barrier.open]
        held = " and ".join(barrier.name for barrier in last.barriers if not barrier.open)
        names = " and ".join(barrier.name for barrier in opened)
        message = (
            f"{names} would let data of class {self.data_class} reach {self.places[-1]} from {self.places[-2]} "
            f"({'; '.join(barrier.why for barrier in opened)}); only {held} holds"
        )
        return (Finding("residency-barrier", message, opened[0].path, "close it too", Severity.ERROR),)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "data_class": self.data_class,
            "refusal": self.refusal,
            "complete": self.is_complete,
            "places": list(self.places),
            "steps": [
                [{"barrier": barrier.name, "open": barrier.open, "why": barrier.why} for barrier in crossing.barriers]
                for crossing in self.crossings
            ],
        }

    def _steps(self) -> Iterator[Finding]:
        for number, crossing in enumerate(self.crossings, start=1):
            for barrier in crossing.barriers:
                message = (
                    f"step {number} of {len(self.crossings)}: {self.places[number - 1]} -> {self.places[number]}: "
                    f"{barrier.why}"
                )
                yield Finding("residency-step", message, barrier.path, None, Severity.INFO)


def residency_paths(graph: DataGraph, policies: dict[str, ClassPolicy]) -> tuple[ResidencyPath, ...]:
    """Return the paths of every class, complete ones first. A path ends at the first place of another class, unless it
    goes on to a location where the class may not be.
    """
    paths = [path for policy in policies.values() for path in _of_class(graph, policy)]
    return tuple(sorted(paths, key=lambda path: not path.is_complete))


def _of_class(graph: DataGraph, policy: ClassPolicy) -> Iterator[ResidencyPath]:
    routes = _routes(graph, policy)
    refused: list[tuple[tuple[Crossing, ...], str]] = []
    closed: dict[tuple[str, str], tuple[Crossing, ...]] = {}
    for key, route in routes.items():
        refusal = policy.refusal(graph.places[key]) if route else None
        if refusal is not None:
            is_beyond = any(policy.refusal(graph.places[crossing.target]) for crossing in route[:-1])
            if not is_beyond or graph.places[key].location not in policy.locations:
                refused.append((route, refusal))
            continue
        for crossing in graph.from_place(key):
            # A closed crossing whose other barrier would let the data pass.
            is_partly_open = crossing.target not in routes and any(barrier.open for barrier in crossing.barriers)
            if is_partly_open and crossing.carries(policy.name) and policy.refusal(graph.places[crossing.target]):
                closed.setdefault((crossing.source, crossing.target), (*route, crossing))
    for route, refusal in refused:
        if not any(route != other and other[: len(route)] == route for other, _ in refused):
            yield _path(graph, policy, route, refusal)
    for route in closed.values():
        yield _path(graph, policy, route, policy.refusal(graph.places[route[-1].target]) or "")


def _routes(graph: DataGraph, policy: ClassPolicy) -> dict[str, tuple[Crossing, ...]]:
    """Return the shortest open route to each place that data of the class reaches. A route ends at a location where the
    class may not be, and goes on from a place of another class at a permitted location.
    """
    start = f"data:{policy.name}"
    routes: dict[str, tuple[Crossing, ...]] = {start: ()}
    queue = deque([start])
    while queue:
        key = queue.popleft()
        if routes[key] and graph.places[key].location not in policy.locations:
            continue
        for crossing in graph.from_place(key):
            if crossing.is_open and crossing.carries(policy.name) and crossing.target not in routes:
                routes[crossing.target] = (*routes[key], crossing)
                queue.append(crossing.target)
    return routes


def _path(graph: DataGraph, policy: ClassPolicy, route: tuple[Crossing, ...], refusal: str) -> ResidencyPath:
    keys = [route[0].source, *(crossing.target for crossing in route)]
    return ResidencyPath(policy.name, refusal, tuple(graph.places[key].title for key in keys), route)
