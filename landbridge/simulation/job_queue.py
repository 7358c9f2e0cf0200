"""Queue of waiting jobs, oldest first, by number of GPUs. A job's number is its position in the order of submission."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

_COMPACT_AFTER_JOBS = 512


@dataclass(slots=True)
class Line:
    """Job numbers in the order of submission, with those that do not wait any more."""

    numbers: list[int] = field(default_factory=list)
    first: int = 0  # index of the first job that still waits

    def add(self, job: int) -> None:
        """Insert a job in order, unless the line still has an earlier entry of it."""
        numbers = self.numbers
        if not numbers or numbers[-1] < job:
            numbers.append(job)
            return
        at = bisect_left(numbers, job)
        if numbers[at] != job:
            numbers.insert(at, job)
        self.first = min(self.first, at)

    def oldest(self, is_waiting: bytearray) -> int | None:
        """Return the first job that still waits; None without one. `is_waiting` is by job number."""
        numbers, at, end = self.numbers, self.first, len(self.numbers)
        while at < end and not is_waiting[numbers[at]]:
            at += 1
        number = numbers[at] if at < end else None
        if at > _COMPACT_AFTER_JOBS and at > end // 2:
            del numbers[:at]
            at = 0
        self.first = at
        return number


class JobQueue:
    """Queue of job numbers. A job that leaves from the middle stays in the lists and is skipped."""

    def __init__(self, jobs: int) -> None:
        self._is_waiting = bytearray(jobs)
        self._all = Line()
        self._lines: dict[int, Line] = {}

    def add(self, job: int, gpus: int) -> None:
        """Add a job, for the first time or again."""
        self._all.add(job)
        line = self._lines.get(gpus)
        if line is None:
            line = self._lines[gpus] = Line()
        line.add(job)
        self._is_waiting[job] = 1

    def remove(self, job: int) -> bool:
        """Remove a job; return whether it was in the queue."""
        was_waiting, self._is_waiting[job] = self._is_waiting[job], 0
        return bool(was_waiting)

    def oldest(self) -> int | None:
        """Return the oldest job; None without one."""
        return self._all.oldest(self._is_waiting)

    def heads(self, max_gpus: int) -> list[tuple[int, int]]:
        """Return the oldest job and its number of GPUs for each number up to `max_gpus`; the oldest of all first."""
        oldest_by_size = [
            (line.oldest(self._is_waiting), gpus) for gpus, line in self._lines.items() if gpus <= max_gpus
        ]
        return sorted((job, gpus) for job, gpus in oldest_by_size if job is not None)

    def after(self, gpus: int, job: int) -> Iterator[int]:
        """Yield the jobs with `gpus` GPUs, from job number `job` on."""
        line = self._lines[gpus]
        numbers = line.numbers
        for at in range(bisect_left(numbers, job, line.first), len(numbers)):
            if self._is_waiting[numbers[at]]:
                yield numbers[at]
