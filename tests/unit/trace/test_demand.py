"""Concurrent demand of a trace against a count at single moments, and the check figures of the Philly trace."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some

from landbridge.trace import TraceJob, demand_of, read
from tests.unit.core.samples import ROOT

PHILLY = ROOT.parent / "shared" / "data" / "philly.csv"
JOBS = some.lists(
    some.builds(
        TraceJob,
        some.integers(0, 50).map(float),
        some.integers(1, 30).map(float),
        some.integers(1, 9),
    ),
    min_size=1,
    max_size=12,
)


@given(JOBS)
def test_the_demand_at_any_moment_is_that_of_the_running_jobs(jobs: list[TraceJob]) -> None:
    demand = demand_of(jobs, 100.0)
    for at in range(int(demand.times[0]), 100):
        (count,) = (
            gpus
            for gpus, start, end in zip(demand.gpus, demand.times, demand.times[1:], strict=False)
            if start <= at < end
        )
        assert count == sum(job.gpus for job in jobs if job.submitted <= at < job.submitted + job.seconds)
    assert demand.gpu_hours * 3600 == pytest.approx(sum(job.gpus * job.seconds for job in jobs))
    half = demand.between(20.0, 40.0)
    assert half.gpu_hours * 3600 == pytest.approx(
        sum(job.gpus * max(0.0, min(job.submitted + job.seconds, 40.0) - max(job.submitted, 20.0)) for job in jobs)
    )


def test_the_figures_of_the_philly_trace() -> None:
    """Compare with figures that were computed from the same file by another program."""
    if not PHILLY.is_file():
        pytest.skip(f"{PHILLY} does not exist: it is not part of the checkout")
    trace = read(PHILLY)
    assert [finding.rule for finding in trace.findings] == ["trace-order"]
    jobs = trace.jobs
    assert len(jobs) == 82_247 and round(sum(job.gpus * job.seconds for job in jobs) / 3600) == 978_078
    groups = Counter(job.group for job in jobs)
    assert len(groups) == 15 and max(groups.values()) == 41_226
    assert {size: count for size, count in Counter(job.gpus for job in jobs).items() if size in (1, 8, 128)} == {
        1: 76_627, 8: 1_643, 128: 3,
    }  # fmt: skip
    seconds = sorted(job.seconds for job in jobs)
    assert [seconds[int(share * len(seconds))] for share in (0.25, 0.5, 0.75, 0.9)] == [115, 1_144, 2_932, 11_266]
    assert max(seconds) == 4_628_226 and sum(seconds) / len(seconds) == pytest.approx(13_135.9, abs=0.05)
    demand = demand_of(jobs)
    assert demand.hours == pytest.approx(2613.5, abs=0.05) and round(demand.mean) == 374
    assert (demand.quantile(0.5), demand.quantile(0.95), demand.quantile(0.99), demand.peak) == (422, 758, 871, 1243)
    days = Counter(int(job.submitted // 86_400) for job in jobs)
    assert max(days.values()) == 3_712
