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
    "AWS has room up to each pool's size; nothing fails and nothing is taken back",
    "prices are the catalogue's, the highest of a range",
)


@dataclass(frozen=True, slots=True)
class WaitStatistics:
    """Seconds from submission to start."""

    jobs: int
    mean: float
    p50: float
    p95: float
    longest: float


@dataclass(frozen=True, slots=True)
class MonthlySpending:
    """`account` is empty for nodes that are kept whatever runs."""

    month: str
    account: str
    pool: str
    usd: float


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """`refused` counts jobs by what kept them from AWS; a job refused for money at first may have burst later."""

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
        """The total cost of AWS."""
        return sum(spent.usd for spent in self.spent)

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {**asdict(self), "usd": self.usd, "assumed": list(ASSUMPTIONS)}


def report(scenario: Scenario, bursting: SimulationResult, without: SimulationResult) -> SimulationReport:
    """Waits are those of the jobs that start in both."""
    tasks = bursting.tasks
    hours, ran = [0.0, 0.0], [number for number, began in enumerate(bursting.began) if began is not None]
    for number in ran:
        hours[bool(bursting.pool[number])] += tasks[number].seconds * tasks[number].gpus / 3600
    nodes: Counter[str] = Counter()
    for stay in bursting.stays:
        nodes[stay.pool] += (stay.ended - stay.launched) / 3600  # type: ignore[assignment]
    both = [number for number in ran if without.began[number] is not None]
    return SimulationReport(
        environment=scenario.name,
        jobs=len(tasks),
        never=len(tasks) - len(ran),
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


def wait_seconds(played: SimulationResult, numbers: Iterable[int]) -> list[float]:
    """Return the waits of these jobs in seconds."""
    return [began - played.tasks[number].submitted for number in numbers if (began := played.began[number]) is not None]


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of the ordered values do not exceed."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def _waits(played: SimulationResult, numbers: Sequence[int]) -> WaitStatistics:
    waits = sorted(wait_seconds(played, numbers))
    mean = sum(waits) / len(waits) if waits else 0.0
    return WaitStatistics(
        len(waits), mean, percentile(waits, 0.5), percentile(waits, 0.95), waits[-1] if waits else 0.0
    )


def _days(played: SimulationResult) -> float:
    return (played.ended - played.tasks[0].submitted) / 86_400 if played.tasks else 0.0
