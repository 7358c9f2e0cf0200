"""Concurrent demand of a trace: GPUs in use over time if every job starts when it is eligible."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from landbridge.trace.job import TraceJob


@dataclass(frozen=True, slots=True)
class Demand:
    """Step function: `gpus[i]` GPUs are in use from `times[i]` until `times[i + 1]`, in seconds since 1970.

    `times` has one element more than `gpus`. Its first is the first job, its last the end of the period.
    """

    times: tuple[float, ...]
    gpus: tuple[int, ...]

    @property
    def hours(self) -> float:
        """Length of the period in hours."""
        return (self.times[-1] - self.times[0]) / 3600 if self.gpus else 0.0

    @property
    def peak(self) -> int:
        """Largest number of GPUs in use."""
        return max(self.gpus, default=0)

    @property
    def gpu_hours(self) -> float:
        """GPU hours of the period."""
        return sum(gpus * seconds for gpus, seconds in self.steps()) / 3600

    @property
    def mean(self) -> float:
        """Mean number of GPUs in use."""
        return self.gpu_hours / self.hours if self.gpus else 0.0

    def steps(self) -> Iterator[tuple[int, float]]:
        """Yield the GPUs and the seconds of each step."""
        times = self.times
        return ((gpus, times[at + 1] - times[at]) for at, gpus in enumerate(self.gpus))

    def quantile(self, share: float) -> int:
        """Return the smallest number of GPUs that the demand does not exceed for `share` of the time."""
        seconds_by_gpus: dict[int, float] = {}
        for gpus, seconds in self.steps():
            seconds_by_gpus[gpus] = seconds_by_gpus.get(gpus, 0.0) + seconds
        target, passed = share * sum(seconds_by_gpus.values()), 0.0
        for gpus in sorted(seconds_by_gpus):
            passed += seconds_by_gpus[gpus]
            if passed >= target:
                return gpus
        return max(seconds_by_gpus, default=0)

    def between(self, start: float, end: float) -> "Demand":
        """Return the part of the period from `start` until `end`."""
        times, gpus = [max(start, self.times[0])], list[int]()
        for at, count in enumerate(self.gpus):
            until = min(self.times[at + 1], end)
            if until > times[-1]:
                times.append(until)
                gpus.append(count)
        return Demand(tuple(times), tuple(gpus))


def demand_of(jobs: Iterable[TraceJob], until: float | None = None, since: float | None = None) -> Demand:
    """Return the demand from `since` until `until`; None: from the first job that is ready, until the last one is.

    A job is ready when it is eligible (TraceJob.ready). After the last one the trace says nothing about new jobs: a longer
    period would show a demand that falls only because the recording stopped. If all jobs were ready at once, the period
    lasts until the last of them ends.
    """
    changes: list[tuple[float, int]] = []
    last = float("-inf")
    for job in jobs:
        changes.append((job.ready, job.gpus))
        changes.append((job.ready + job.seconds, -job.gpus))
        last = max(last, job.ready)
    if since is not None:
        changes.append((since, 0))
    changes.sort()
    end = last if until is None else until
    if until is None and changes and changes[0][0] == last:
        end = changes[-1][0]
    times, gpus, count = list[float](), list[int](), 0
    for at, change in changes:
        if at >= end:
            break
        if times and times[-1] == at:
            count += change
            gpus[-1] = count
            continue
        count += change
        times.append(at)
        gpus.append(count)
    demand = Demand((*times, end), tuple(gpus)) if times else Demand((), ())
    return demand if since is None or not times or times[0] == since else demand.between(since, end)
