"""Waiting jobs, oldest first, by number of GPUs. A job's number is its position in the order of submission."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

_COMPACT_AFTER_JOBS = 512


@dataclass(slots=True)
class _Line:
    numbers: list[int] = field(default_factory=list)
    first: int = 0  # where the first one is that still waits

    def add(self, job: int) -> None:
        """Put a job in its place, unless an entry of it is there still from the last time."""
        numbers = self.numbers
        if not numbers or numbers[-1] < job:
            numbers.append(job)
            return
        at = bisect_left(numbers, job)
        if numbers[at] != job:
            numbers.insert(at, job)
        self.first = min(self.first, at)

    def oldest(self, here: bytearray) -> int | None:
        """The first one that is still here."""
        numbers, at, end = self.numbers, self.first, len(self.numbers)
        while at < end and not here[numbers[at]]:
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
        self._here = bytearray(jobs)
        self._all = _Line()
        self._lines: dict[int, _Line] = {}

    def add(self, job: int, gpus: int) -> None:
        """A job comes, or comes back."""
        self._all.add(job)
        line = self._lines.get(gpus)
        if line is None:
            line = self._lines[gpus] = _Line()
        line.add(job)
        self._here[job] = 1

    def remove(self, job: int) -> bool:
        """Take a job out; says whether it was there."""
        gpus, self._here[job] = self._here[job], 0
        return bool(gpus)

    def oldest(self) -> int | None:
        """The job that waits longest."""
        return self._all.oldest(self._here)

    def heads(self, most: int) -> list[tuple[int, int]]:
        """For each number of GPUs up to `most` the oldest job and that number; the oldest of all first."""
        oldest_by_size = [(line.oldest(self._here), gpus) for gpus, line in self._lines.items() if gpus <= most]
        return sorted((job, gpus) for job, gpus in oldest_by_size if job is not None)

    def after(self, gpus: int, job: int) -> Iterator[int]:
        """Those that ask for so many GPUs, from a job's number on."""
        line = self._lines[gpus]
        numbers = line.numbers
        for at in range(bisect_left(numbers, job, line.first), len(numbers)):
            if self._here[numbers[at]]:
                yield numbers[at]
