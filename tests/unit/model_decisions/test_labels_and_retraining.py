"""Late labels joined by the id of the request, and the trigger of a retraining."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.models.canary.tallies import Tally
from landbridge.models.drift.judge import DriftReport, FeatureDrift
from landbridge.models.drift.labels import JoinedLabels, LateLabel, LoggedPrediction, joined
from landbridge.models.drift.retraining import (
    Retraining,
    RetrainingAction,
    RetrainingLimits,
    retraining,
    trigger_record,
)

DAY = 86_400.0
PREDICTIONS = [
    LoggedPrediction("r1", "1", 0, "7"),
    LoggedPrediction("r2", "1", 1, "3"),
    LoggedPrediction("r3", "2", 2, "5"),
    LoggedPrediction("r4", "2", 3, "5"),
    LoggedPrediction("r5", "2", 4, "0"),
]
LABELS = [
    LateLabel("r1", 10, "7"),
    LateLabel("r2", 10, "3"),
    LateLabel("r2", 20, "8"),
    LateLabel("r3", 10, "5"),
    LateLabel("r4", 5000, "5"),
    LateLabel("r9", 10, "1"),
]


def test_labels_are_joined_by_request() -> None:
    assert joined(PREDICTIONS, LABELS, 1000) == JoinedLabels({"1": Tally(1, 2), "2": Tally(0, 1)}, 1, 1, 1)


@settings(max_examples=60, deadline=None)
@given(st.permutations(PREDICTIONS * 2), st.permutations(LABELS * 2))
def test_neither_order_nor_repetition_matters(predictions: list[LoggedPrediction], labels: list[LateLabel]) -> None:
    assert joined(predictions, labels, 1000) == joined(PREDICTIONS, LABELS, 1000)


def report(*, drifted: bool) -> DriftReport:
    """Return the report of a window."""
    return DriftReport((FeatureDrift("all", "x[0]", 500, 0.4, 0.3, 1e-9, drifted),), (), None, None, False)


LIMITS = RetrainingLimits(windows=2, cool_down_seconds=DAY, budget_usd=100)


@pytest.mark.parametrize(
    ("windows", "earlier", "expected"),
    [
        ([], [], RetrainingAction.NONE),
        ([True, True, False], [], RetrainingAction.NONE),
        ([False, True], [], RetrainingAction.WAIT),
        ([True, False, True], [], RetrainingAction.WAIT),
        ([True, True], [], RetrainingAction.RETRAIN),
        ([True, True], [Retraining(99.5 * DAY, 10)], RetrainingAction.COOL_DOWN),
        ([True, True], [Retraining(98 * DAY, 10)], RetrainingAction.RETRAIN),
        ([True, True], [Retraining(98 * DAY, 60), Retraining(80 * DAY, 30)], RetrainingAction.OVER_BUDGET),
        ([True, True], [Retraining(60 * DAY, 95)], RetrainingAction.RETRAIN),
    ],
)
def test_a_retraining_is_triggered(windows: list[bool], earlier: list[Retraining], expected: RetrainingAction) -> None:
    action, reason = retraining([report(drifted=each) for each in windows], earlier, 20, LIMITS, 100 * DAY)
    assert action is expected
    assert reason


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 5), st.booleans(), st.floats(0, 60)), max_size=40))
def test_retrainings_keep_the_cool_down_and_the_budget(windows: list[tuple[float, bool, float]]) -> None:
    """Windows in any order of drift, each some days after the last; every retraining costs its estimate."""
    now, reports, done = 0.0, [], []
    for days, drifted, usd in windows:
        now += days * DAY
        reports.append(report(drifted=drifted))
        action, _ = retraining(reports, done, usd, LIMITS, now)
        if action is RetrainingAction.RETRAIN:
            assert drifted
            assert not done or now - done[-1].at >= LIMITS.cool_down_seconds
            done.append(Retraining(now, usd))
            assert sum(each.usd for each in done if now - each.at < 30 * DAY) <= LIMITS.budget_usd


def test_the_record_names_model_version_time_and_reason() -> None:
    text = trigger_record("digits", "3", 1000.5, "x[0] in all: PSI 0.40, KS 0.30")
    assert json.loads(text) == {
        "model": "digits",
        "version": "3",
        "at": 1000.5,
        "key": "digits/3/1000",
        "reason": "x[0] in all: PSI 0.40, KS 0.30",
    }
