"""Report of a replay with and without bursting."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from landbridge.simulation.conditions import NO_CONDITIONS, Conditions
from landbridge.simulation.result import SimulationResult
from landbridge.simulation.scenario import Scenario


def assumptions(conditions: Conditions = NO_CONDITIONS, *, kinds: bool = False) -> tuple[str, ...]:
    """Return the assumptions of a replay, printed with every result."""
    order = "first come first served"
    if conditions.half_life_hours is not None:
        order = f"the account and user with the least usage first (half-life {conditions.half_life_hours:g} hours)"
    room = "AWS has the given capacity" if conditions.capacity else "AWS has capacity up to each pool's size"
    causes = []
    if conditions.mtbf_hours is not None:
        hours = f"{conditions.mtbf_hours:,g} hours on average, on-prem for {conditions.repair_hours:g} hours"
        causes.append(f"a node fails every {hours}")
    if conditions.spot_interruptions:
        causes.append(f"a spot instance is interrupted {conditions.spot_interruptions:g} times an hour on average")
    if causes:
        interval = conditions.checkpoint_seconds
        since = f"the last checkpoint, one each {interval / 60:g} minutes" if interval else "the beginning"
        causes.append(f"an ended job starts again from {since}")
    return (
        "a GPU of either site is as fast as the other's" + (", of one type" if kinds else ""),
        f"{order} at the site and in each pool, with EASY backfill by time limits (the 200 oldest jobs of a size)",
        f"{room}; {'; '.join(causes) or 'nothing fails and no instance is interrupted'}",
        "prices are the catalogue's, the highest of a range",
    )


ASSUMPTIONS = assumptions()


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
class SiteCosts:
    """Cost of both sites in USD, until all jobs had run. On-prem GPUs cost `usd_gpu_hour`, used or not. `a_gpu_hour` is
    the sum for one GPU hour of finished work; 0 without any."""

    usd_gpu_hour: float
    onprem: float
    aws: float
    total: float
    a_gpu_hour: float


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """Report of a replay. `refused`: number of jobs by the code of their refusal in AWS; a job that a budget refused
    first may have burst later. GPU hours are of finished work and, with interruptions, of work that was repeated;
    `interruptions` are by pool, on-prem under an empty name. `both_sites` is None without a rate for on-prem GPUs."""

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
    assumed: tuple[str, ...] = ASSUMPTIONS
    both_sites: SiteCosts | None = None
    both_sites_without: SiteCosts | None = None
    interruptions: dict[str, int] = field(default_factory=dict)
    restarts: int = 0
    unfinished: int = 0
    lost_gpu_hours: float = 0.0

    @property
    def usd(self) -> float:
        """Return the total cost of AWS in USD."""
        return sum(spent.usd for spent in self.spent)

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {**asdict(self), "usd": self.usd}


def report(
    scenario: Scenario,
    bursting: SimulationResult,
    without: SimulationResult,
    conditions: Conditions = NO_CONDITIONS,
    owned_usd_gpu_hour: float | None = None,
) -> SimulationReport:
    """Return the report of two replays. Waits are those of the jobs that start in both.

    `owned_usd_gpu_hour` is the cost of one on-prem GPU for an hour, used or not, in USD.
    """
    tasks = bursting.tasks
    hours, started = [0.0, 0.0], [number for number, began in enumerate(bursting.began) if began is not None]
    for number in started:
        hours[bool(bursting.pool[number])] += tasks[number].seconds * tasks[number].gpus / 3600
    if conditions.has_interruptions:
        hours = [seconds / 3600 for seconds in bursting.gpu_seconds]
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
        assumed=assumptions(conditions, kinds=bool(scenario.onprem_kinds)),
        both_sites=_both_sites(scenario, bursting, owned_usd_gpu_hour),
        both_sites_without=_both_sites(scenario, without, owned_usd_gpu_hour),
        interruptions=dict(sorted(bursting.interruptions.items())),
        restarts=bursting.restarts,
        unfinished=len(bursting.unfinished),
        lost_gpu_hours=bursting.lost_gpu_seconds / 3600,
    )


def _both_sites(scenario: Scenario, result: SimulationResult, usd_gpu_hour: float | None) -> SiteCosts | None:
    if usd_gpu_hour is None:
        return None
    onprem, aws = 24 * _days(result) * scenario.onprem_gpus * usd_gpu_hour, sum(result.spent.values())
    work = sum(
        task.seconds * task.gpus
        for number, task in enumerate(result.tasks)
        if result.began[number] is not None and number not in result.unfinished
    )
    return SiteCosts(usd_gpu_hour, onprem, aws, onprem + aws, (onprem + aws) / (work / 3600) if work else 0.0)


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
