"""Placement of the jobs of a trace: each job goes to its cheapest destination at its submission, with the waits at that time.

First come, first served at the site and in each pool, by GPUs. The expected wait of a job is the one that follows from
the run times of the jobs before it.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.placement.destinations import Destination, destinations_of
from landbridge.plan.placement.evaluate import place_job
from landbridge.plan.placement.job import PlacementJob, SiteState
from landbridge.simulation.result import SimulatedJob

ASSUMPTIONS = (
    "each job goes to the destination that costs least at its submission, and stays there",
    "first come, first served at the site and in each pool, by GPUs; a pool's job has whole nodes",
    "the expected wait is the one that follows from the run times of the jobs before it",
    "no data is copied, because a trace does not have it; prices are the highest of a range; nothing fails",
)


@dataclass(slots=True)
class DestinationTotal:
    """Jobs of one destination: number, GPU hours, hours of waiting of all jobs, and their marginal cost in USD without the
    price of waiting. `unpriced`: jobs whose cost is not known."""

    jobs: int = 0
    gpu_hours: float = 0.0
    wait_hours: float = 0.0
    usd: float = 0.0
    waiting_usd: float = 0.0
    unpriced: int = 0


@dataclass(slots=True)
class PlacementReport:
    """Result: totals by destination, numbers of refusals by destination and filter, and jobs that no destination can take."""

    environment: str
    jobs: int = 0
    destinations: dict[str, DestinationTotal] = field(default_factory=dict)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    nowhere: int = 0

    def as_data(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "environment": self.environment,
            "jobs": self.jobs,
            "destinations": {name: asdict(total) for name, total in self.destinations.items()},
            "refused": [
                {"destination": destination, "filter": filter_name, "jobs": jobs}
                for (destination, filter_name), jobs in sorted(self.refused.items())
            ],
            "classes": dict(sorted(self.classes.items())),
            "nowhere": self.nowhere,
            "assumptions": list(ASSUMPTIONS),
        }


def placed_jobs(
    environment: Environment, jobs: Sequence[SimulatedJob], progress: Callable[[int], None] | None = None
) -> PlacementReport:
    """Place the jobs in the order of their submission."""
    destinations = destinations_of(environment)
    report = PlacementReport(
        environment.name, len(jobs), {destination.name: DestinationTotal() for destination in destinations}
    )
    queues: dict[str, _Queue] = {}
    for destination in destinations:
        name = _queue_name(destination)
        known = queues.get(name)
        # The site's kinds of nodes are one queue; the capacities of a pool share its nodes.
        if known is None:
            queues[name] = _Queue(destination.gpus)
        else:
            known.gpus = (
                known.gpus + destination.gpus if destination.site == "onprem" else max(known.gpus, destination.gpus)
            )
    for number, job in enumerate(jobs):
        now = job.submitted
        waits = {
            name: (queue.start(now, job.gpus) - now) / 3600 for name, queue in queues.items() if job.gpus <= queue.gpus
        }
        site_wait = waits.get("", 0.0)
        state = SiteState(
            None if site_wait == 0 else 0, site_wait, {name: hours for name, hours in waits.items() if name}
        )
        request = PlacementJob(job.account, job.gpus, job.seconds / 3600)
        decision = place_job(environment, request, state, destinations)
        report.classes[decision.workload] += 1
        for rejected in decision.rejected:
            for name in dict.fromkeys(refusal.filter for refusal in rejected.refusals):
                report.refused[rejected.destination.name, name] += 1
        if not decision.ranked:
            report.nowhere += 1
            continue
        best = decision.ranked[0]
        queues[_queue_name(best.destination)].add(now, _occupied(best.destination, job.gpus), job.seconds)
        total = report.destinations[best.destination.name]
        total.jobs += 1
        total.gpu_hours += job.gpus * request.hours
        total.wait_hours += best.timing.start_hours
        if best.cost.usd is None:
            total.unpriced += 1
        for part in best.cost.parts:
            if part.name == "waiting":
                total.waiting_usd += part.usd or 0.0
            else:
                total.usd += part.usd or 0.0
        if progress is not None and number % 512 == 0:
            progress(number)
    return report


def _queue_name(destination: Destination) -> str:
    return destination.pool


def _occupied(destination: Destination, gpus: int) -> int:
    """Return the GPUs that a job occupies: whole instances in AWS."""
    return gpus if destination.site == "onprem" else -(-gpus // destination.node_gpus) * destination.node_gpus


class _Queue:
    """Queue of GPUs, first come, first served. Jobs start in the order of their submission."""

    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self.last_start = 0.0
        self.running: list[tuple[float, int]] = []  # heap of (end, GPUs)

    def start(self, now: float, gpus: int) -> float:
        """Return the time at which a job of `gpus` would start if it were submitted now."""
        start = max(now, self.last_start)
        ends = [pair for pair in self.running if pair[0] > start]
        free = self.gpus - sum(count for _, count in ends)
        heapq.heapify(ends)
        while free < gpus and ends:
            start, count = heapq.heappop(ends)
            free += count
        return start

    def add(self, now: float, gpus: int, seconds: float) -> None:
        """Add a job to the queue."""
        gpus = min(gpus, self.gpus)
        start = self.start(now, gpus)
        self.last_start = start
        while self.running and self.running[0][0] <= start:
            heapq.heappop(self.running)
        heapq.heappush(self.running, (start + seconds, gpus))
