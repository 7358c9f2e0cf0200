"""Queue of one pool or of the site: first come first served with EASY backfill, which starts a later job earlier if it
does not delay the oldest job by its time limit."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from landbridge.simulation.job_queue import JobQueue

#: Number of too long jobs of each size that backfill tests while one job is the oldest; like Slurm's bf_max_job_test.
MAX_BACKFILL_JOBS = 200


class GpuCapacity(Protocol):
    """Capacity of a queue: the GPUs on which its jobs run."""

    def idle(self) -> int:
        """Return the number of GPUs that are available to a job now."""

    def fits(self, gpus: int) -> bool:
        """Return whether a job could start now."""

    def earliest(self, gpus: int) -> tuple[float, int]:
        """Return the latest start of a job, and the number of other GPUs that are free then."""


@dataclass(slots=True)
class _Reservation:
    """Reservation of the oldest job: its latest start. `seen`: by size, jobs with a lower number have been tested."""

    job: int
    latest_start: float
    spare_gpus: int
    seen: dict[int, int] = field(default_factory=dict)
    long: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))  # number of too long jobs, by size


@dataclass(slots=True)
class BackfillQueue:
    """Queue with EASY backfill. `start_job` starts a job in the capacity or refuses it finally; the job leaves the
    queue in both cases."""

    capacity: GpuCapacity
    waiting: JobQueue
    gpus: Sequence[int]
    limits: Sequence[float]
    start_job: Callable[[int, float], None]
    reservation: _Reservation | None = None

    def offer(self, job: int, now: float) -> None:
        """Add a job, and start it if it fits."""
        self.waiting.add(job, self.gpus[job])
        if self.capacity.idle() >= self.gpus[job]:
            self.run(now)

    def run(self, now: float) -> None:
        """Start every job that can start."""
        while (idle := self.capacity.idle()) and (job := self.waiting.oldest()) is not None:
            if not self.capacity.fits(self.gpus[job]):
                self._fill(job, self.gpus[job], idle, now)
                return
            self._start(job, now)

    def _start(self, job: int, now: float) -> None:
        self.waiting.remove(job)
        self.start_job(job, now)

    def _fill(self, head: int, gpus_of_head: int, idle: int, now: float) -> None:
        """Backfill with later jobs while the oldest job does not fit."""
        reservation = self.reservation
        if reservation is None or reservation.job != head:
            reservation = self.reservation = _Reservation(head, *self.capacity.earliest(gpus_of_head))
        for oldest, gpus in self.waiting.heads(idle):
            first = head + 1 if oldest == head else oldest
            while gpus <= reservation.spare_gpus and self.capacity.fits(gpus):
                next_job = next(self.waiting.after(gpus, first), None)
                if next_job is None:
                    break
                reservation.spare_gpus -= gpus
                self._start(next_job, now)
            if reservation.long[gpus] < MAX_BACKFILL_JOBS and self.capacity.fits(gpus):
                self._start_short_jobs(gpus, max(first, reservation.seen.get(gpus, 0)), reservation, now)

    def _start_short_jobs(self, gpus: int, first: int, reservation: _Reservation, now: float) -> None:
        """Start jobs whose time limits end before the oldest job's reservation."""
        for job in islice(self.waiting.after(gpus, first), MAX_BACKFILL_JOBS - reservation.long[gpus]):
            reservation.seen[gpus] = job + 1
            if now + self.limits[job] > reservation.latest_start:
                reservation.long[gpus] += 1
                continue
            self._start(job, now)
            if not self.capacity.fits(gpus):
                return
