"""Rates of decisions over a thousand simulated canaries: no more false ones than the plan states, and detections as documented."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from scipy.stats import binom

from landbridge.models.canary.decide import CanaryAction
from landbridge.models.canary.plan import CanaryPlan
from tests.unit.model_decisions.canary_traffic import GUARDS, simulate

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "canaries.md"
PLAN = CanaryPlan(GUARDS)
#: Kinds of candidates: the rise of their rates, the number of simulations, and the expected outcome.
CASES: dict[str, tuple[dict[str, float], int, CanaryAction]] = {
    "as good as the champion": ({}, 1000, CanaryAction.PROMOTE),
    "errors: 1 percentage point more": ({"errors": 0.01}, 200, CanaryAction.ROLL_BACK),
    "latency: 5 percentage points more above the objective": ({"latency": 0.05}, 200, CanaryAction.ROLL_BACK),
    "accuracy: 5 percentage points less": ({"quality": 0.05}, 200, CanaryAction.ROLL_BACK),
    "drift: 5 percentage points more": ({"drift": 0.05}, 200, CanaryAction.ROLL_BACK),
    "each request fails": ({"errors": 0.9}, 200, CanaryAction.ROLL_BACK),
}


@cache
def outcomes(name: str) -> tuple[Counter[CanaryAction | None], int]:
    """Return the outcomes of the simulations, and the median of their looks."""
    rise, count, _ = CASES[name]
    ends = [simulate(seed, PLAN, rise) for seed in range(count)]
    return Counter(end.outcome for end in ends), sorted(end.looks for end in ends)[count // 2]


def at_most(rate: float, count: int) -> int:
    """Return the number of events that a binomial count with a rate exceeds with a probability of one in a million."""
    return int(binom.isf(1e-6, count, rate))


def test_a_good_candidate_is_rolled_back_no_more_often_than_stated() -> None:
    ends_by_outcome, _ = outcomes("as good as the champion")
    assert ends_by_outcome[CanaryAction.ROLL_BACK] <= at_most(PLAN.false_rollbacks, 1000)
    assert ends_by_outcome[CanaryAction.PROMOTE] >= 950


def test_looks_at_every_block_do_not_raise_the_rate() -> None:
    """A canary that never ends has 150 looks with small blocks; without the correction for looks, most would be rolled back."""
    endless = replace(PLAN, weights=(50,), requests=10**9, false_rollbacks=0.05)
    ends = [simulate(seed, endless, {}, looks=150, per_look=40) for seed in range(80)]
    assert sum(end.outcome is CanaryAction.ROLL_BACK for end in ends) <= at_most(0.05, 80)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is CanaryAction.ROLL_BACK])
def test_a_bad_candidate_is_rolled_back(name: str) -> None:
    ends_by_outcome, _ = outcomes(name)
    count = CASES[name][1]
    assert ends_by_outcome[CanaryAction.ROLL_BACK] >= 0.95 * count
    assert ends_by_outcome[CanaryAction.PROMOTE] <= at_most(PLAN.false_promotions, count)


def test_a_rise_within_the_margin_is_no_harm() -> None:
    plan = replace(PLAN, guards=tuple(replace(guard, margin=guard.effect / 2) for guard in GUARDS))
    rise = {guard.name: guard.effect / 2 for guard in GUARDS}
    ends = [simulate(seed, plan, rise, looks=40) for seed in range(60)]
    assert sum(end.outcome is CanaryAction.ROLL_BACK for end in ends) <= at_most(plan.false_rollbacks, 60)


def test_the_page_states_the_simulated_figures() -> None:
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+ \| [^|]+ \| [^|]+ \| [^|]+) \|$", PAGE.read_text(), re.MULTILINE))
    for name, (_, count, _) in CASES.items():
        ends_by_outcome, looks = outcomes(name)
        promoted, rolled_back = ends_by_outcome[CanaryAction.PROMOTE], ends_by_outcome[CanaryAction.ROLL_BACK]
        expected = f"{count} | {promoted / count:.1%} | {rolled_back / count:.1%} | {looks}"
        assert rows.get(name) == expected, f"| {name} | {expected} |"
