"""One offering's queue, first come first served, with backfill as EASY does it: later jobs may go first where the oldest one
loses nothing by their time limits."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from landbridge.simulation.job_queue import JobQueue

#: How many jobs of each size backfill may find too long while one job waits at the head; Slurm has bf_max_job_test for it.
DEPTH = 200


class GpuCapacity(Protocol):
    """Where jobs of a lane run."""

    def idle(self) -> int:
        """GPUs that a job could have now."""

    def fits(self, gpus: int) -> bool:
        """Whether a job could start now."""

    def earliest(self, gpus: int) -> tuple[float, int]:
        """When a job fits at the latest, and how many GPUs beside it are free then."""


@dataclass(slots=True)
class _Reservation:
    """What the oldest job was promised. Jobs of a size before `seen` could run past `moment`."""

    job: int
    moment: float
    spare: int
    seen: dict[int, int] = field(default_factory=dict)
    long: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))  # how many were too long, by size


@dataclass(slots=True)
class BackfillQueue:
    """`seat` starts a job in the room, or refuses it for good; it leaves the queue either way."""

    room: GpuCapacity
    waiting: JobQueue
    gpus: Sequence[int]
    limits: Sequence[float]
    seat: Callable[[int, float], None]
    promised: _Reservation | None = None

    def offer(self, job: int, now: float) -> None:
        """A job comes."""
        self.waiting.add(job, self.gpus[job])
        if self.room.idle() >= self.gpus[job]:
            self.run(now)

    def run(self, now: float) -> None:
        """Start what can start."""
        while (idle := self.room.idle()) and (job := self.waiting.oldest()) is not None:
            if not self.room.fits(self.gpus[job]):
                self._fill(job, self.gpus[job], idle, now)
                return
            self._start(job, now)

    def _start(self, job: int, now: float) -> None:
        self.waiting.remove(job)
        self.seat(job, now)

    def _fill(self, head: int, wanted: int, idle: int, now: float) -> None:
        """Backfill behind the oldest job, which does not fit."""
        promised = self.promised
        if promised is None or promised.job != head:
            promised = self.promised = _Reservation(head, *self.room.earliest(wanted))
        for oldest, gpus in self.waiting.heads(idle):
            first = head + 1 if oldest == head else oldest
            while gpus <= promised.spare and self.room.fits(gpus):
                following = next(self.waiting.after(gpus, first), None)
                if following is None:
                    break
                promised.spare -= gpus
                self._start(following, now)
            if promised.long[gpus] < DEPTH and self.room.fits(gpus):
                self._short_ones(gpus, max(first, promised.seen.get(gpus, 0)), promised, now)

    def _short_ones(self, gpus: int, first: int, promised: _Reservation, now: float) -> None:
        """Those that end by their limits before the oldest job's time comes."""
        for job in islice(self.waiting.after(gpus, first), DEPTH - promised.long[gpus]):
            promised.seen[gpus] = job + 1
            if now + self.limits[job] > promised.moment:
                promised.long[gpus] += 1
                continue
            self._start(job, now)
            if not self.room.fits(gpus):
                return
