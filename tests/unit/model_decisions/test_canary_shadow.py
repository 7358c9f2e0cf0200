"""Shadow of a canary: stated rates of false decisions over a thousand simulated shadows, and no weight before evidence."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from landbridge.models.canary.decide import CanaryAction, CanaryLook, CanaryRecord, begun, decided
from landbridge.models.canary.record import parse, to_json
from landbridge.models.canary.shadow import ShadowPlan
from landbridge.models.canary.tallies import Tally
from landbridge.serving.canary_controller.plans import CanarySchedule, canary_plan

WHOLE = canary_plan(False, CanarySchedule(shadow=True))
#: One guard of requests: a shadow gets none of them.
PLAN = replace(WHOLE, guards=WHOLE.guards[:1], step_seconds=0.0)
RUNS, LOOKS = 1000, 40
#: Copies between two looks change, as traffic does.
COPIES = (1, 7, 40, 20, 90)


def shadow_of(plan: ShadowPlan | None) -> ShadowPlan:
    assert plan is not None
    return plan


SHADOW = shadow_of(PLAN.shadow)
LIMITS = {guard.name: guard.limit for guard in SHADOW.guards}


def looks(rng: np.random.Generator, shares: dict[str, float]) -> Iterator[CanaryLook]:
    tallies = dict.fromkeys(LIMITS, Tally())
    for number in range(LOOKS):
        new = COPIES[number % len(COPIES)]
        for name in tallies:
            tallies[name] += Tally(int(rng.binomial(new, shares.get(name, 0.0))), new)
        yield CanaryLook(float(number + 1), {}, {}, copies={"a-srv01": dict(tallies)})


def outcome(rng: np.random.Generator, shares: dict[str, float]) -> CanaryAction | None:
    """Return the end of a shadow: passed (advance), refused (roll_back), or undecided."""
    record = begun("digits", "1", "2", CanaryLook(0.0, {}, {}), is_shadow=True)
    for look in looks(rng, shares):
        decision, record = decided(PLAN, record, look)
        if decision.action is not CanaryAction.HOLD:
            return decision.action
        assert decision.weight == 0
    return None


def counts(seed: int, shares: dict[str, float]) -> tuple[int, int]:
    """Return how many of the simulated shadows passed, and how many were refused."""
    rng = np.random.default_rng(seed)
    ends = [outcome(rng, shares) for _ in range(RUNS)]
    return ends.count(CanaryAction.ADVANCE), ends.count(CanaryAction.ROLL_BACK)


@pytest.mark.parametrize("guard", LIMITS)
def test_at_the_limit_false_decisions_are_as_rare_as_stated(guard: str) -> None:
    """A share at the limit is in both null hypotheses. Bounds: 99.9 percent of a binomial distribution at the stated rates."""
    passed, refused = counts(1, {guard: LIMITS[guard]})
    assert (SHADOW.false_passes, SHADOW.false_refusals) == (0.001, 0.01)
    assert passed <= 5, "of 1,000 at a rate of 0.001"
    assert refused <= 21, "of 1,000 at a rate of 0.01"


def test_shares_at_all_limits_are_refused_as_rarely() -> None:
    passed, refused = counts(2, LIMITS)
    assert passed == 0 and refused <= 21


@pytest.mark.parametrize(("guard", "share"), [("disagreement", 0.2), ("errors", 0.06), ("late", 0.3)])
def test_a_share_above_the_limit_gets_no_requests(guard: str, share: float) -> None:
    passed, refused = counts(3, {guard: share})
    assert passed == 0 and refused >= 990


def test_shares_well_below_the_limits_pass() -> None:
    passed, refused = counts(4, {name: limit / 10 for name, limit in LIMITS.items()})
    assert passed >= 990 and refused == 0


def look(at: float, bad: int, all_copies: int, ready: bool = True) -> CanaryLook:
    names = dict.fromkeys(LIMITS, Tally(0, all_copies)) | {"disagreement": Tally(bad, all_copies)}
    return CanaryLook(at, {}, {}, ready, {"a-srv01": names})


def first(bad: int = 0, all_copies: int = 0) -> CanaryRecord:
    return begun("digits", "1", "2", look(0, bad, all_copies), is_shadow=True)


def test_the_first_weight_comes_after_the_copies() -> None:
    decision, record = decided(PLAN, first(), look(1, 0, 50))
    assert (decision.action, decision.weight) == (CanaryAction.HOLD, 0)
    assert decision.reason == "shadow: 50 copies, no evidence yet in disagreement, errors, late"
    decision, record = decided(PLAN, record, look(2, 2, 500))
    assert (decision.action, decision.weight) == (CanaryAction.ADVANCE, PLAN.weights[0])
    assert decision.reason == "shadow: 500 copies, every share is below its limit"
    decision, record = decided(PLAN, record, look(3, 400, 900))
    assert (decision.action, decision.weight) == (CanaryAction.HOLD, PLAN.weights[0]), "copies do not count any more"


def test_copies_before_the_canary_do_not_count() -> None:
    decision, _ = decided(PLAN, first(900, 1000), look(1, 900, 1500))
    assert decision.action is CanaryAction.ADVANCE


def test_a_refusal_is_final_and_says_why() -> None:
    decision, record = decided(PLAN, first(), look(1, 60, 200))
    assert (decision.action, decision.weight) == (CanaryAction.ROLL_BACK, 0)
    assert decision.reason.startswith("shadow: disagreement in 30.00% of 200 copies, limit 10.00%, e-value ")
    decision, _ = decided(PLAN, record, look(2, 60, 9000))
    assert decision.action is CanaryAction.ROLL_BACK


def test_a_candidate_without_a_ready_server_does_not_pass() -> None:
    decision, record = decided(PLAN, first(), look(1, 0, 900, ready=False))
    assert (decision.action, decision.weight) == (CanaryAction.HOLD, 0)
    decision, _ = decided(PLAN, record, look(1 + PLAN.down_seconds, 0, 900, ready=False))
    assert decision.action is CanaryAction.ROLL_BACK


def test_a_shadow_without_requests_ends_at_the_limit_of_time() -> None:
    decision, record = decided(PLAN, first(), look(PLAN.limit_seconds, 0, 0))
    assert decision.action is CanaryAction.EXTEND
    decision, _ = decided(PLAN, record, look(2 * PLAN.limit_seconds, 0, 0))
    assert decision.action is CanaryAction.ROLL_BACK
    assert decision.reason.endswith("no evidence in disagreement, errors, late")


def test_the_record_is_kept_as_json() -> None:
    _, record = decided(PLAN, first(), look(1, 3, 50))
    assert parse(to_json(record)) == record
    older = to_json(begun("digits", "1", "2", CanaryLook(0, {}, {}))).replace(',"is_shadow":false,"shadow":{}', "")
    assert not parse(older).is_shadow


def test_a_service_without_a_shadow_any_more_goes_on() -> None:
    decision, _ = decided(replace(PLAN, shadow=None), first(), look(1, 0, 0))
    assert (decision.action, decision.weight) == (CanaryAction.ADVANCE, PLAN.weights[0])
