"""Random schedules of jobs on the nodes of both sites, and the charges that a burst journal has of them.

Times are whole hours, so that a test can add up every hour of every node by itself.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from landbridge.economics.job_costs.paid import PaidTime
from landbridge.timestamps import day_of, month_of, month_start
from landbridge.trace.allocations import Allocation
from tests.unit.core.samples import environment

HOUR, GPUS, AWS_USD_HOUR = 3600, 8, 55.04
#: Last day of October, November, and the first day of December 2026.
FIRST, LAST = int(month_start("2026-10")) + 30 * 24 * HOUR, int(month_start("2026-12")) + 24 * HOUR
MONTHS = ("2026-10", "2026-11", "2026-12")
OWNED, RENTED = ("dgx01", "dgx02"), ("p5-1", "p5-2", "p5-3", "p5-4")
STATES = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY")


def priced(idle_kw: float = 2.0):
    """Return the sample environment with nodes whose power depends on their use."""
    return environment({("onprem", "costs"): {"nodes": {"dgx-h100": {"idle_kw": idle_kw}}}})


@dataclass(frozen=True)
class Drawn:
    """Job as it was drawn: its first hour since FIRST, the hours of each run, its nodes, and the GPUs on each."""

    start: int
    hours: tuple[int, ...]
    nodes: tuple[str, ...]
    gpus: int
    state: str
    is_task: bool


def jobs() -> st.SearchStrategy[Drawn]:
    """Return jobs near both ends of November and in it; one with several runs was requeued."""
    last = (LAST - FIRST) // HOUR
    starts = st.integers(0, 60) | st.integers(0, last - 1) | st.integers(last - 60, last - 1)
    nodes = st.sampled_from(
        [(name,) for name in (*OWNED, *RENTED)] + [OWNED, RENTED[:2], RENTED[1:4], RENTED, ("dgx02", "p5-1")]
    )
    return st.builds(
        Drawn,
        starts,
        st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple),
        nodes,
        st.integers(0, GPUS),
        st.sampled_from(STATES),
        st.booleans(),
    )


def allocations(drawn: list[Drawn]) -> list[Allocation]:
    """Return the runs of the jobs, without those for which a node has too few free GPUs."""
    used: dict[tuple[str, int], int] = defaultdict(int)
    runs = []
    for number, job in enumerate(drawn, start=1):
        begin = FIRST + job.start * HOUR
        for run, hours in enumerate(job.hours):
            end = min(begin + hours * HOUR, LAST)
            ticks = [(node, at) for node in job.nodes for at in range(begin, end, HOUR)]
            if not ticks or any(used[tick] + job.gpus > GPUS for tick in ticks):
                break
            for tick in ticks:
                used[tick] += job.gpus
            state = job.state if run == len(job.hours) - 1 else "REQUEUED"
            name = f"{100 + number // 3}_{number}" if job.is_task else str(number)
            gpus = job.gpus * len(job.nodes)
            user = ("ann", "bob")[number % 2]
            runs.append(
                Allocation(number, name, user, "vision", "all", state, begin, end, job.nodes, gpus, 8 * len(job.nodes))
            )
            begin = end + HOUR
    return runs


def charges(runs: list[Allocation]) -> list[PaidTime]:
    """Return the charges of the journal: the jobs on a node pay equal parts of each hour."""
    sums: dict[tuple[str, int, Literal["job", "idle"]], float] = defaultdict(float)
    for node in RENTED:
        for at in range(FIRST, LAST, HOUR):
            on_node = {run.job for run in runs if node in run.nodes and run.seconds(at, at + HOUR)}
            for job in on_node:
                sums[day_of(at), job, "job"] += 1 / len(on_node)
            if not on_node and at % (24 * HOUR) == 0:
                sums[day_of(at), 0, "idle"] += 0.25
    return [
        PaidTime(day, "p5", "vision", job, kind, hours * HOUR, hours * AWS_USD_HOUR)
        for (day, job, kind), hours in sorted(sums.items())
    ]


def spent(paid: list[PaidTime]) -> dict[tuple[str, str, str], float]:
    """Return the journal's sums by month, account and pool."""
    sums: dict[tuple[str, str, str], float] = defaultdict(float)
    for charge in paid:
        sums[charge.day[:7], charge.account, charge.pool] += charge.usd
    return dict(sums)


def hours_of(run: Allocation, node: str, month: str) -> int:
    """Return the hours of a run on a node in a month."""
    if node not in run.nodes or run.end is None:
        return 0
    return sum(1 for at in range(run.start, run.end, HOUR) if month_of(at) == month)
