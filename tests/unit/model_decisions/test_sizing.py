"""Sizing: formulas against simulated queues, the cheapest place that holds the objective, and the gate of a smaller version."""

import heapq
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.models.sizing.comparison import (
    ComparisonBounds,
    MeasuredVersion,
    accuracy_loss_bound,
    compared,
    quantile_bounds,
    usd_of_1000,
)
from landbridge.models.sizing.places import ServingObjective, ServingPlace, WorkerMeasurement, sized
from landbridge.models.sizing.queueing import (
    ServiceTime,
    high_latency,
    high_wait,
    largest_rate,
    service_time,
    waiting_share,
)


def test_waiting_share_is_that_of_one_worker_and_of_tables() -> None:
    assert waiting_share(0.7, 1) == pytest.approx(0.7)
    assert waiting_share(8.0, 10) == pytest.approx(0.4092, abs=5e-5)
    assert waiting_share(10.0, 10) == 1.0


def simulated_p95(rng: np.random.Generator, rate: float, workers: int, seconds: np.ndarray) -> float:
    """Return the 95 percent quantile of wait and service of random arrivals at workers with one queue."""
    arrivals = np.cumsum(rng.exponential(1 / rate, len(seconds)))
    free = [0.0] * workers
    latencies = []
    for at, service in zip(arrivals.tolist(), seconds.tolist(), strict=True):
        begin = max(at, heapq.heappop(free))
        heapq.heappush(free, begin + service)
        latencies.append(begin + service - at)
    return float(np.quantile(latencies, 0.95))


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("kind", ["constant", "gamma", "exponential"])
def test_the_bound_holds_in_simulated_queues(workers: int, kind: str) -> None:
    rng = np.random.default_rng(7)
    seconds = {
        "constant": np.full(40_000, 0.01),
        "gamma": rng.gamma(4, 0.0025, 40_000),
        "exponential": rng.exponential(0.01, 40_000),
    }[kind]
    service = service_time(seconds.tolist())
    for load in (0.3, 0.6, 0.8):
        rate = load * workers / 0.01
        assert simulated_p95(rng, rate, workers, seconds) <= high_latency(service, rate, workers) * 1.03


@settings(max_examples=60, deadline=None)
@given(mean=st.floats(0.001, 1), cv=st.floats(0, 2), workers=st.integers(1, 64), objective=st.floats(0.001, 5))
def test_the_largest_rate_is_the_last_that_holds(mean: float, cv: float, workers: int, objective: float) -> None:
    service = ServiceTime(mean, cv, mean * 1.5)
    rate = largest_rate(service, workers, objective)
    if mean * 1.5 > objective:
        assert rate == 0
        return
    assert high_latency(service, rate, workers) <= objective
    assert high_latency(service, rate * 1.01 + 1e-9, workers) > objective * 0.999 or rate * mean < 1e-6
    assert high_wait(service, 1.001 * workers / mean, workers, 0.025) == inf


MEASURED = WorkerMeasurement("c7i", ServiceTime(0.02, 0.3, 0.03), memory_mib=500, cores=1)
SMALL = ServingPlace("c7i.large", "c7i", 1, 4096, 0.09)
LARGE = ServingPlace("c7i.4xlarge", "c7i", 8, 32_768, 0.71)
SLICE = ServingPlace("1g.10gb", "h100-sxm5", 1, 10_000, None)


def test_the_cheapest_place_that_holds_the_objective_is_first() -> None:
    rows = sized(ServingObjective(0.06, 100), [MEASURED], [LARGE, SMALL, SLICE])
    assert {row.place.name for row in rows} == {"c7i.large", "c7i.4xlarge"}
    best = rows[0]
    assert best.holds
    assert best.usd_hour == min(row.usd_hour or inf for row in rows)
    assert all(high_latency(MEASURED.service, 100 / row.count, row.workers) <= 0.06 for row in rows)
    # One place fewer does not hold.
    assert all(
        row.count == 1 or high_latency(MEASURED.service, 100 / (row.count - 1), row.workers) > 0.06 for row in rows
    )


def test_a_slow_or_small_place_says_why() -> None:
    slow, small = (
        sized(ServingObjective(0.01, 1), [MEASURED], [SMALL]),
        sized(ServingObjective(0.06, 1), [MEASURED], [ServingPlace("c7i.tiny", "c7i", 1, 512, 0.01)]),
    )
    assert slow[0].reason == "97.5 percent of requests need up to 30.0 ms without a wait"
    assert small[0].reason == "a worker needs 500 MiB and 1 cores"


def test_spare_places_are_counted_and_unknown_prices_come_last() -> None:
    gpu = WorkerMeasurement("h100-sxm5", ServiceTime(0.002, 0.1, 0.003), 2000, 1)
    rows = sized(ServingObjective(0.06, 10, spare=1), [MEASURED, gpu], [SLICE, SMALL])
    assert [(row.place.name, row.count, row.usd_hour) for row in rows] == [("c7i.large", 2, 0.18), ("1g.10gb", 2, None)]


def version(seed: int, correct: float, seconds: float, memory: float = 100, size: int = 1000) -> MeasuredVersion:
    """Return a measurement of 1,000 rows, of which the first ones are right."""
    rng = np.random.default_rng(seed)
    right = tuple(at < correct * 1000 for at in range(1000))
    return MeasuredVersion(right, tuple(rng.gamma(50, seconds / 50, 1000).tolist()), memory, size)


BOUNDS = ComparisonBounds(accuracy_loss=0.01, latency_ratio=1.1, memory_ratio=1.0, size_ratio=0.5)


@pytest.mark.parametrize(
    ("smaller", "failed"),
    [
        (version(2, 0.97, 0.006, 80, 300), set()),
        (version(2, 0.94, 0.006, 80, 300), {"accuracy"}),
        (version(2, 0.97, 0.020, 80, 300), {"p95_seconds"}),
        (version(2, 0.97, 0.006, 120, 900), {"memory_mib", "size_bytes"}),
    ],
)
def test_the_gate_names_each_bound_that_fails(smaller: MeasuredVersion, failed: set[str]) -> None:
    values = compared(version(1, 0.97, 0.010), smaller, BOUNDS, usd_hour=1.0)
    assert {each.name for each in values if not each.passed} == failed
    assert [each.name for each in values][-1] == "usd_1000_predictions"


def test_the_cost_of_1000_predictions_is_that_of_their_time() -> None:
    assert usd_of_1000([0.01, 0.03], 3.6) == pytest.approx(0.02)


def test_a_loss_at_the_bound_passes_no_more_often_than_stated() -> None:
    """Two thousand comparisons of versions whose true loss is 2 points: the bound is below it in at most 5 percent."""
    rng, below = np.random.default_rng(11), 0
    for _ in range(2000):
        cells = rng.choice(4, size=800, p=[0.94, 0.03, 0.01, 0.02])
        original, smaller = (cells == 0) | (cells == 1), (cells == 0) | (cells == 2)
        below += accuracy_loss_bound(original.tolist(), smaller.tolist(), 0.95) < 0.02
    assert below <= 150


def test_quantile_bounds_hold_the_quantile() -> None:
    rng, inside = np.random.default_rng(13), 0
    true = -np.log(0.05)
    for _ in range(500):
        low, high = quantile_bounds(rng.exponential(1, 400).tolist(), 0.95, 0.95)
        inside += low <= true <= high
    assert inside >= 460


def test_versions_on_other_rows_are_not_compared() -> None:
    with pytest.raises(ValueError, match="same rows"):
        compared(version(1, 0.9, 0.01), MeasuredVersion((True,), (0.1,), 1, 1), BOUNDS)
