"""E-values of blocks: their expectation is at most 1 under every point of the null hypothesis, by exact sums."""

from math import comb, exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.models.canary.evidence import clipped, log_e_value, nearest_rate
from landbridge.models.canary.guards import Guard, GuardEvidence, harm_of_all, with_block
from landbridge.models.canary.tallies import Tally

RATES = st.floats(0.001, 0.999)


def expectation(n: int, m: int, alternative: tuple[float, float], bound: float, truth: tuple[float, float]) -> float:
    """Return the expectation of a block's e-value over all outcomes."""

    def chance(bad: int, count: int, rate: float) -> float:
        return comb(count, bad) * rate**bad * (1 - rate) ** (count - bad)

    return sum(
        chance(i, n, truth[0])
        * chance(j, m, truth[1])
        * exp(log_e_value(Tally(i, n), Tally(j, m), *alternative, bound))
        for i in range(n + 1)
        for j in range(m + 1)
    )


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 5),
    m=st.integers(1, 5),
    rate=RATES,
    rise=st.floats(0.01, 0.9),
    margin=st.floats(0, 0.3),
    a=RATES,
    b=RATES,
)
def test_harm_has_an_expectation_of_at_most_one(
    n: int, m: int, rate: float, rise: float, margin: float, a: float, b: float
) -> None:
    harmful = clipped(rate + margin + rise)
    if harmful <= rate + margin:
        return
    truth = (a, min(b, a + margin))
    assert expectation(n, m, (rate, harmful), margin, truth) <= 1 + 1e-6


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 5),
    m=st.integers(1, 5),
    rate=st.floats(0.001, 0.5),
    effect=st.floats(0.01, 0.4),
    a=st.floats(0.001, 0.5),
)
def test_safety_has_an_expectation_of_at_most_one(n: int, m: int, rate: float, effect: float, a: float) -> None:
    assert expectation(n, m, (rate, rate), effect, (a, a + effect)) <= 1 + 1e-6
    assert expectation(n, m, (rate, rate), effect, (a, min(1.0, a + 1.5 * effect))) <= 1 + 1e-6


@settings(max_examples=60, deadline=None)
@given(rate_a=RATES, rate_b=RATES, n=st.integers(1, 100_000), m=st.integers(1, 100_000), bound=st.floats(-0.5, 0.5))
def test_the_nearest_point_has_the_smallest_divergence(
    rate_a: float, rate_b: float, n: int, m: int, bound: float
) -> None:
    from math import log

    low, high = max(0.0, -bound), min(1.0, 1 - bound)
    at = nearest_rate(rate_a, rate_b, n, m, bound)
    assert low <= at <= high

    def divergence(x: float) -> float:
        return sum(
            count * (rate * log(rate / null) + (1 - rate) * log((1 - rate) / (1 - null)))
            for count, rate, null in ((n, rate_a, x), (m, rate_b, x + bound))
        )

    best = divergence(clipped(at) if bound == 0 else min(max(at, low + 1e-12), high - 1e-12))
    for step in (0.1, 0.01, 0.001):
        for other in (at - step * (at - low), at + step * (high - at)):
            assert divergence(other) >= best - 1e-6 * (n + m)


def test_a_block_without_requests_of_one_version_says_nothing() -> None:
    assert log_e_value(Tally(3, 10), Tally(), 0.1, 0.3, 0.0) == 0
    assert log_e_value(Tally(), Tally(3, 10), 0.1, 0.3, 0.0) == 0


def test_the_mean_over_guards_is_below_a_single_strong_guard() -> None:
    guard = Guard("errors", 0.001, 0.01)
    strong = with_block(guard, GuardEvidence(), Tally(1, 1000), Tally(50, 100))
    evidence = {"errors": strong, "latency": GuardEvidence()}
    assert harm_of_all(evidence) == pytest.approx((strong.harm_e + 1) / 2)
    assert strong.safe_e < 1e-6


def test_a_candidate_that_always_fails_beside_a_champion_that_always_fails_is_no_harm() -> None:
    evidence = with_block(Guard("errors", 0.9, 0.05), GuardEvidence(), Tally(1000, 1000), Tally(100, 100))
    for _ in range(50):
        evidence = with_block(Guard("errors", 0.9, 0.05), evidence, Tally(1000, 1000), Tally(100, 100))
    assert evidence.harm_e < 10


@pytest.mark.parametrize("values", [(0.001, 0.0, 0.0), (0.001, 0.01, 0.02), (1.0, 0.01, 0.0), (0.0, 1.0, 0.0)])
def test_a_guard_has_an_effect_above_its_margin(values: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="margin < effect"):
        Guard("errors", *values)
