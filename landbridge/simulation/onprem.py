"""On-prem nodes of a replay, and the backlog of their queues."""

from dataclasses import dataclass, field

from landbridge.simulation.gpu_allocator import GpuAllocator, earliest


@dataclass(slots=True)
class OnpremNodes:
    """Capacity of equal on-prem nodes, which are up unless one failed. `kind`: their GPU type; empty: not distinguished."""

    allocator: GpuAllocator
    nodes: int
    kind: str = ""

    @classmethod
    def of(cls, nodes: int, gpus: int, kind: str = "") -> "OnpremNodes":
        """Return `nodes` nodes with `gpus` GPUs each."""
        allocator = GpuAllocator(gpus)
        for node in range(nodes):
            allocator.add(node)
        return cls(allocator, nodes, kind)

    @property
    def size(self) -> int:
        """Return the number of all GPUs, also of nodes that are down."""
        return self.nodes * self.allocator.gpus

    def idle(self) -> int:
        """Return the number of GPUs that are available to a job now."""
        return self.allocator.idle

    def fits(self, gpus: int) -> bool:
        """Return whether a job could start now."""
        return not self.allocator.lacks(gpus)

    def earliest(self, gpus: int) -> tuple[float, int]:
        """Return the latest start of a job, and the number of other GPUs that are free then."""
        free = [self.allocator.free.get(node, 0) for node in range(self.nodes)]
        return earliest(gpus, self.allocator.gpus, free, self.allocator.running.values())


@dataclass(slots=True)
class Backlog:
    """Backlog of the site in GPU-seconds, by the time limits of its jobs. It gives the expected wait of a new job."""

    gpus: int
    waiting: float = 0.0  # GPU-seconds
    _running: int = 0
    _until: float = 0.0
    _ends: dict[int, tuple[int, float]] = field(default_factory=dict)

    def start(self, job: int, gpus: int, until: float) -> None:
        """Record the start of a job that has its GPUs until `until` at the latest."""
        self._ends[job] = (gpus, until)
        self._running += gpus
        self._until += gpus * until

    def end(self, job: int) -> None:
        """Record the end of a job."""
        gpus, until = self._ends.pop(job)
        self._running -= gpus
        self._until -= gpus * until

    def start_of_next(self, now: float) -> float:
        """Return the soonest start of a job submitted now, if jobs run for their whole limits and leave no GPU unused."""
        gpu_seconds = self._until - self._running * now + self.waiting
        return now + max(gpu_seconds, 0.0) / self.gpus if self.gpus else float("inf")
