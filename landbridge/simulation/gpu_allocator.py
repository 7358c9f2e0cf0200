"""Allocator of GPUs on equal nodes. A job gets a part of one node, or whole nodes and a part of one more."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

#: Nodes of a job, each with its number of GPUs.
Allocation = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class GpuAllocator:
    """Allocator of nodes with `gpus` GPUs each. It prefers the node with the fewest free GPUs, so that whole nodes stay
    free."""

    gpus: int
    free: dict[int, int] = field(default_factory=dict)
    by_free: list[dict[int, None]] = field(init=False)
    #: Job -> (latest end, its allocation).
    running: dict[int, tuple[float, Allocation]] = field(default_factory=dict)
    idle: int = 0

    def __post_init__(self) -> None:
        self.by_free = [{} for _ in range(self.gpus + 1)]

    def add(self, node: int) -> None:
        """Add an empty node."""
        self.free[node] = self.gpus
        self.by_free[self.gpus][node] = None
        self.idle += self.gpus

    def remove(self, node: int) -> None:
        """Remove an empty node."""
        del self.by_free[self.free.pop(node)][node]
        self.idle -= self.gpus

    def fit(self, gpus: int) -> Allocation | None:
        """Return the allocation that a job would get now; None if it does not fit."""
        return None if self.lacks(gpus) else self.split(gpus)[0]

    def lacks(self, gpus: int) -> int:
        """Return the number of additional empty nodes that a job needs; 0 if it fits. Called far more often than jobs
        start."""
        full_nodes, remainder = divmod(gpus, self.gpus)
        spare_nodes = len(self.by_free[-1]) - full_nodes
        if remainder and not any(self.by_free[remainder:-1]):
            spare_nodes -= 1
        return -spare_nodes if spare_nodes < 0 else 0

    def split(self, gpus: int) -> tuple[Allocation, tuple[int, ...]]:
        """Return the allocation on present nodes, and the number of GPUs of each additional node that the job needs."""
        each = self.gpus
        full_nodes, remainder = divmod(gpus, each)
        parts = [(node, each) for node in islice(self.by_free[-1], full_nodes)] if full_nodes else []
        missing = (each,) * (full_nodes - len(parts))
        if remainder:
            node = self._fullest(remainder, full_nodes)
            if node is None:
                missing += (remainder,)
            else:
                parts.append((node, remainder))
        return tuple(parts), missing

    def _fullest(self, gpus: int, after: int) -> int | None:
        """Return the node with the fewest sufficient free GPUs: one in use, else the empty one after `after` others; or
        None."""
        for nodes in self.by_free[gpus:-1]:
            if nodes:
                return next(iter(nodes))
        return next(islice(self.by_free[-1], after, None), None)

    def take(self, job: int, parts: Allocation, until: float) -> None:
        """Allocate the nodes to a job."""
        for node, count in parts:
            self._set(node, self.free[node] - count)
        self.running[job] = (until, parts)

    def give(self, job: int) -> Allocation:
        """Free a job's nodes; return its allocation."""
        parts = self.running.pop(job)[1]
        for node, count in parts:
            self._set(node, self.free[node] + count)
        return parts

    def jobs_on(self, node: int) -> list[int]:
        """Return the jobs that have GPUs of a node."""
        return [job for job, (_, parts) in self.running.items() if any(at == node for at, _ in parts)]

    def _set(self, node: int, free: int) -> None:
        before = self.free[node]
        del self.by_free[before][node]
        self.by_free[free][node] = None
        self.free[node] = free
        self.idle += free - before


def earliest(
    gpus: int, each: int, free: Iterable[int], running: Iterable[tuple[float, Allocation]]
) -> tuple[float, int]:
    """Return the latest start of a job, and the number of other GPUs that are free then. `free`: free GPUs by node,
    from 0."""
    free_gpus = list(free)
    full_nodes, remainder = divmod(gpus, each)
    empty, total = sum(count == each for count in free_gpus), sum(free_gpus)
    for until, parts in sorted(running):
        for node, count in parts:
            free_gpus[node] += count
            total += count
            empty += free_gpus[node] == each
        if (
            empty >= full_nodes
            and total >= gpus
            and (not remainder or empty > full_nodes or any(remainder <= count < each for count in free_gpus))
        ):
            return until, total - gpus
    return float("inf"), 0
