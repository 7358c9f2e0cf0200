"""Drift: distances against scipy, the rate of false windows, detection by feature and slice, and accuracy without labels."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2, ks_2samp

from landbridge.models.drift.distances import chi_squared, ks, ks_chance, psi, psi_noise
from landbridge.models.drift.judge import ALL, DriftLimits, DriftReport, judged
from landbridge.models.drift.performance import estimated_accuracy, mean_confidence
from landbridge.models.drift.reference import (
    BinnedCounts,
    ModelReference,
    binned,
    parse_reference,
    quantile_edges,
    reference_of,
)

LIMITS = DriftLimits(false_windows=0.01, psi=0.1, rows=100, accuracy_drop=0.05)
COUNTS = st.lists(st.integers(0, 1000), min_size=2, max_size=12).filter(lambda counts: sum(counts) > 0)


@pytest.mark.parametrize("degrees", [1, 2, 5, 9, 30])
@pytest.mark.parametrize("chance", [0.5, 0.01, 1e-6])
def test_chi_squared_is_that_of_scipy(degrees: int, chance: float) -> None:
    assert chi_squared(degrees, chance) == pytest.approx(chi2.isf(chance, degrees), rel=1e-6)


def test_ks_of_bins_is_at_most_that_of_the_values() -> None:
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.2, 1.0):
        first, second = rng.normal(size=800).tolist(), rng.normal(shift, size=500).tolist()
        edges = quantile_edges(first)
        exact = ks_2samp(first, second)
        statistic = ks(binned(first, edges), binned(second, edges))
        assert statistic <= exact.statistic + 1e-12
        assert ks_chance(exact.statistic, 800, 500) == pytest.approx(exact.pvalue, rel=0.2, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(first=COUNTS, data=st.data())
def test_distances_are_symmetric_and_zero_for_equal_shares(first: list[int], data: st.DataObject) -> None:
    edges = tuple(float(at) for at in range(len(first) - 1))
    second = data.draw(st.lists(st.integers(0, 1000), min_size=len(first), max_size=len(first)))
    a, b = BinnedCounts(edges, tuple(first)), BinnedCounts(edges, tuple(second))
    assert psi(a, b) == pytest.approx(psi(b, a))
    assert psi(a, b) >= 0
    assert psi(a, a) == pytest.approx(0)
    assert ks(a, a) == 0
    if b.total:
        assert ks(a, b) == pytest.approx(ks(b, a))
        assert 0 <= ks(a, b) <= 1


def test_noise_of_the_index_has_the_stated_probability() -> None:
    rng, above = np.random.default_rng(5), 0
    for _ in range(1000):
        samples = [BinnedCounts(tuple(map(float, range(9))), tuple(rng.multinomial(800, [0.1] * 10))) for _ in "ab"]
        above += psi(*samples) > psi_noise(*samples, 0.05)
    assert above <= binom.isf(1e-6, 1000, 0.05)
    assert above >= 20


def test_edges_are_those_of_equal_counts() -> None:
    assert quantile_edges(list(range(100)), 4) == (25, 50, 75)
    assert quantile_edges([1.0] * 50) == ()
    assert quantile_edges([0.0] * 90 + [1.0] * 10) == (0.0,)
    assert binned([0.0, 1.0, 1.5, 2.0, 9.0], (1.0, 2.0)) == BinnedCounts((1.0, 2.0), (2, 2, 1))


def rows(seed: int, count: int, shift: float = 0.0) -> dict[str, list[float]]:
    """Return rows of five features; `shift` moves the first one, in standard deviations."""
    rng = np.random.default_rng(seed)
    return {f"x[{at}]": rng.normal(shift if at == 0 else 0.0, size=count).tolist() for at in range(5)}


def window(reference: ModelReference, values: dict[str, list[float]]) -> dict[str, BinnedCounts]:
    """Return the counts of a window in the reference's bins."""
    return {name: binned(each, reference.features[name].edges) for name, each in values.items()}


def test_windows_without_drift_are_called_drift_no_more_often_than_stated() -> None:
    reference = reference_of(rows(0, 2000), slices={"site=a": list(range(1000)), "site=b": list(range(1000, 2000))})
    false_windows = 0
    for seed in range(1, 301):
        values = rows(seed, 400)
        halves = [
            {name: each[:200] for name, each in values.items()},
            {name: each[200:] for name, each in values.items()},
        ]
        counts = {
            ALL: window(reference, values),
            **{f"site={key}": window(reference, half) for key, half in zip("ab", halves, strict=True)},
        }
        false_windows += bool(judged(reference, counts, None, replace(LIMITS, psi=0.0)).drifted)
    assert false_windows <= binom.isf(1e-6, 300, LIMITS.false_windows)


def test_the_feature_and_the_slice_that_moved_are_named() -> None:
    reference = reference_of(rows(0, 2000), slices={"site=a": list(range(1000)), "site=b": list(range(1000, 2000))})
    counts = {
        ALL: window(reference, rows(1, 400, 0.1)),
        "site=a": window(reference, rows(2, 400, 1.0)),
        "site=b": window(reference, rows(3, 50)),
    }
    report = judged(reference, counts, None, LIMITS)
    assert [(each.slice, each.feature) for each in report.drifted] == [("site=a", "x[0]")]
    assert report.reason.startswith("x[0] in site=a: PSI ")
    assert ("site=b", "x[1]") in report.unjudged


def test_a_large_window_does_not_call_a_small_change_drift() -> None:
    reference = reference_of(rows(0, 20_000))
    counts = {ALL: window(reference, rows(1, 20_000, 0.1))}
    report = judged(reference, counts, None, LIMITS)
    moved = next(each for each in report.features if each.feature == "x[0]")
    assert moved.chance < 1e-6
    assert not moved.drifted


def confidences(seed: int, noise: float, count: int = 5000) -> tuple[list[float], float]:
    """Return confidences of a logistic model with calibrated outputs, on inputs with a noise, and the true accuracy."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, count) * 2 - 1
    score = truth * 2.0 + rng.normal(size=count) * noise
    probability = 1 / (1 + np.exp(-np.abs(score) * 2))
    return probability.tolist(), float(np.mean(np.sign(score) == truth))


def test_accuracy_is_estimated_without_labels() -> None:
    known, accuracy = confidences(0, 1.4)
    reference = reference_of({}, known, accuracy)
    for noise, tolerance in ((1.4, 0.01), (2.2, 0.12)):
        current, true = confidences(1, noise)
        estimate = estimated_accuracy(
            reference, binned(current, reference.confidence.edges if reference.confidence else ())
        )
        assert estimate == pytest.approx(true, abs=tolerance)


def test_a_fall_of_confidence_is_a_fall_of_the_estimate() -> None:
    known, accuracy = confidences(0, 1.4)
    reference = reference_of({}, known, accuracy)
    less = binned([value - 0.15 for value in known], reference.confidence.edges if reference.confidence else ())
    report = judged(reference, {}, less, LIMITS)
    assert report.accuracy_fell
    assert report.reason.startswith("estimated accuracy ")
    assert mean_confidence(less) == pytest.approx(np.mean(known) - 0.15, abs=0.03)
    few = BinnedCounts(less.edges, (50, *(0,) * (len(less.counts) - 1)))
    assert judged(reference, {}, few, LIMITS) == DriftReport((), (), None, accuracy, False)


def test_a_reference_survives_the_manifest() -> None:
    reference = reference_of(rows(0, 100), [0.4, 0.95], 0.9, {"site=a": [0, 1, 2]})
    assert parse_reference(json.loads(json.dumps(reference.to_dict()))) == reference


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"schema": 2, "features": {}},
        {"schema": 1, "features": {"x": {"edges": [2, 1], "counts": [1, 1, 1]}}},
        {"schema": 1, "features": {"x": {"edges": [1], "counts": [1]}}},
        {"schema": 1, "features": {"x": {"edges": [float("nan")], "counts": [1, 1]}}},
    ],
)
def test_another_form_is_no_reference(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a reference"):
        parse_reference(data)
