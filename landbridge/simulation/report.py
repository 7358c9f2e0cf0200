"""Report of a replay with and without bursting."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from landbridge.simulation.result import SimulationResult
from landbridge.simulation.scenario import Scenario

#: Assumptions of the replay, printed with every result.
ASSUMPTIONS = (
    "a GPU of either site is as fast as the other's",
    "first come first served at the site and in each pool, with EASY backfill by time limits (the 200 oldest jobs of a size)",
    "AWS has capacity up to each pool's size; nothing fails and no instance is interrupted",
    "prices are the catalogue's, the highest of a range",
)


@dataclass(frozen=True, slots=True)
class WaitStatistics:
    """Statistics of waits: seconds from submission to start."""

    jobs: int
    mean: float
    p50: float
    p95: float
    longest: float


@dataclass(frozen=True, slots=True)
class MonthlySpending:
    """Spending of a month by account and pool. `account` is empty for nodes that run without a job (`min_nodes`)."""

    month: str
    account: str
    pool: str
    usd: float


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """Report of a replay. `refused`: number of jobs by the code of their refusal in AWS; a job that a budget refused
    first may have burst later."""

    environment: str
    jobs: int
    never: int
    burst_jobs: int
    onprem_gpus: int
    cloud_gpus: int
    waits: WaitStatistics
    waits_without: WaitStatistics
    gpu_hours_onprem: float
    gpu_hours_aws: float
    node_hours_aws: dict[str, float]
    spent: tuple[MonthlySpending, ...]
    refused: dict[str, int]
    peak_nodes: dict[str, int]
    launches: dict[str, int]
    days: float
    days_without: float

    @property
    def usd(self) -> float:
        """Return the total cost of AWS in USD."""
        return sum(spent.usd for spent in self.spent)

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {**asdict(self), "usd": self.usd, "assumed": list(ASSUMPTIONS)}


def report(scenario: Scenario, bursting: SimulationResult, without: SimulationResult) -> SimulationReport:
    """Return the report of two replays. Waits are those of the jobs that start in both."""
    tasks = bursting.tasks
    hours, started = [0.0, 0.0], [number for number, began in enumerate(bursting.began) if began is not None]
    for number in started:
        hours[bool(bursting.pool[number])] += tasks[number].seconds * tasks[number].gpus / 3600
    nodes: Counter[str] = Counter()
    for stay in bursting.stays:
        nodes[stay.pool] += (stay.ended - stay.launched) / 3600  # type: ignore[assignment]
    both = [number for number in started if without.began[number] is not None]
    return SimulationReport(
        environment=scenario.name,
        jobs=len(tasks),
        never=len(tasks) - len(started),
        burst_jobs=sum(map(bool, bursting.pool)),
        onprem_gpus=scenario.onprem_gpus,
        cloud_gpus=scenario.cloud_gpus,
        waits=_waits(bursting, both),
        waits_without=_waits(without, both),
        gpu_hours_onprem=hours[0],
        gpu_hours_aws=hours[1],
        node_hours_aws=dict(nodes),
        spent=tuple(MonthlySpending(*key, usd) for key, usd in sorted(bursting.spent.items())),
        refused={code: len(jobs) for code, jobs in sorted(bursting.refused.items())},
        peak_nodes=dict(bursting.peaks),
        launches=dict(bursting.launches),
        days=_days(bursting),
        days_without=_days(without),
    )


def wait_seconds(result: SimulationResult, numbers: Iterable[int]) -> list[float]:
    """Return the waits of these jobs in seconds."""
    return [began - result.tasks[number].submitted for number in numbers if (began := result.began[number]) is not None]


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value that a share of the ordered values do not exceed; 0 without values."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def _waits(result: SimulationResult, numbers: Sequence[int]) -> WaitStatistics:
    waits = sorted(wait_seconds(result, numbers))
    mean = sum(waits) / len(waits) if waits else 0.0
    return WaitStatistics(
        len(waits), mean, percentile(waits, 0.5), percentile(waits, 0.95), waits[-1] if waits else 0.0
    )


def _days(result: SimulationResult) -> float:
    return (result.ended - result.tasks[0].submitted) / 86_400 if result.tasks else 0.0
