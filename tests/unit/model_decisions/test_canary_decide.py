"""Decisions of a canary: schedule, limits, a candidate that is down, and a controller that is killed at any look."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.models.canary.decide import CanaryAction, CanaryLook, CanaryRecord, begun, decided, weight_of
from landbridge.models.canary.guards import Guard
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.record import parse, to_json
from landbridge.models.canary.tallies import Tally, new_requests, since
from landbridge.serving.canary_controller.plans import canary_plan

PLAN = CanaryPlan((Guard("errors", 0.001, 0.02),), requests=50, step_seconds=10, limit_seconds=100, down_seconds=5)


def look(at: float, champion: int, candidate: int, bad: int = 0, *, ready: bool = True) -> CanaryLook:
    """Return a look with counters since the servers began."""
    return CanaryLook(
        at, {"s1": {"errors": Tally(0, champion)}}, {"s2": {"errors": Tally(bad, candidate)}}, ready=ready
    )


def start() -> CanaryRecord:
    return begun("digits", "1", "2", look(0, 1000, 0))


def test_weights_rise_step_by_step_to_promotion() -> None:
    record, actions = start(), []
    for number in range(1, 10):
        decision, record = decided(PLAN, record, look(number * 10, 1000 + number * 1000, number * 100))
        actions.append((decision.action.value, decision.weight))
    assert actions[:2] == [("advance", 10), ("advance", 50)]
    assert actions[-1] == ("promote", 100)
    assert actions.index(("promote", 100)) < 6


def test_a_step_ends_only_with_its_requests_and_its_time() -> None:
    record = start()
    decision, after = decided(PLAN, record, look(10, 5000, 49))
    assert (decision.action, decision.weight) == (CanaryAction.HOLD, 1)
    decision, after = decided(PLAN, record, look(9, 5000, 500))
    assert decision.action is CanaryAction.HOLD
    assert decided(PLAN, after, look(10, 6000, 501))[0].action is CanaryAction.ADVANCE


def test_too_few_requests_are_waited_for_and_then_rolled_back() -> None:
    record = start()
    decision, record = decided(PLAN, record, look(100, 1010, 1))
    assert decision.action is CanaryAction.EXTEND
    decision, record = decided(PLAN, record, look(199, 1020, 2))
    assert decision.action is CanaryAction.HOLD
    decision, record = decided(PLAN, record, look(200, 1030, 3))
    assert (decision.action, decision.weight) == (CanaryAction.ROLL_BACK, 0)
    assert "no evidence in errors" in decision.reason


def test_a_candidate_that_is_down_is_rolled_back_in_seconds() -> None:
    decision, record = decided(PLAN, start(), look(10, 2000, 10, ready=False))
    assert decision.action is CanaryAction.HOLD
    decision, record = decided(PLAN, record, look(12, 2000, 10))
    assert record.down_at is None
    decision, record = decided(PLAN, record, look(14, 2000, 10, ready=False))
    decision, record = decided(PLAN, record, look(19, 2000, 10, ready=False))
    assert decision.action is CanaryAction.ROLL_BACK
    assert "no server of the candidate" in decision.reason


def test_three_errors_of_the_first_requests_roll_back() -> None:
    decision, _ = decided(PLAN, start(), look(10, 3000, 20, bad=3))
    assert decision.action is CanaryAction.ROLL_BACK
    assert "errors: candidate 15.00% of 20 requests, champion 0.00% of 2000" in decision.reason


def test_a_decision_is_kept() -> None:
    _, record = decided(PLAN, start(), look(10, 3000, 20, bad=20))
    decision, again = decided(PLAN, record, look(20, 9000, 9000))
    assert (decision.action, decision.weight, again) == (CanaryAction.ROLL_BACK, 0, record)
    assert weight_of(PLAN, record) == 0


def test_a_guard_that_is_not_required_does_not_hold_the_promotion() -> None:
    late = Guard("quality", 0.05, 0.05)
    for required, expected in ((True, CanaryAction.HOLD), (False, CanaryAction.PROMOTE)):
        plan = replace(PLAN, guards=(*PLAN.guards, replace(late, required=required)), weights=(50,))
        assert decided(plan, start(), look(50, 9000, 9000))[0].action is expected


def test_a_counter_that_fell_began_at_zero() -> None:
    assert since(Tally(2, 10), Tally(5, 100)) == Tally(2, 10)
    assert since(Tally(7, 110), Tally(5, 100)) == Tally(2, 10)
    assert new_requests({"s1": {"e": Tally(0, 5)}}, {"s1": {"e": Tally(1, 9)}}, "e") == Tally(0, 5)
    # The first reading of a server is where it begins.
    assert new_requests({"s2": {"e": Tally(7, 5000)}}, {"s1": {"e": Tally(1, 9)}}, "e") == Tally()


def test_a_server_that_is_away_and_comes_back_is_counted_once() -> None:
    record = start()
    _, record = decided(PLAN, record, CanaryLook(5, {}, {"s2": {"errors": Tally(0, 10)}}))
    _, record = decided(PLAN, record, look(6, 1600, 30))
    assert record.evidence["errors"].champion == Tally(0, 600)
    assert record.evidence["errors"].candidate == Tally(0, 30)


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 100), st.integers(0, 1)), min_size=1, max_size=20),
    stored=st.sets(st.integers(0, 20)),
)
def test_a_controller_killed_at_any_look_has_all_requests_at_the_next(
    steps: list[tuple[int, int, int]], stored: set[int]
) -> None:
    """A look whose record was not stored is missing; the counters of the next one have its requests."""
    champion, candidate, bad = 1000, 0, 0
    record = parse(to_json(start()))
    for number, (more_a, more_b, failed) in enumerate([*steps, (1, 1, 0)]):
        champion, candidate, bad = champion + more_a, candidate + more_b, bad + min(failed, more_b)
        _, new = decided(replace(PLAN, limit_seconds=1e9), record, look(number, champion, candidate, bad))
        if number in stored or number == len(steps):
            record = parse(to_json(new))
            assert record == new
        if record.outcome is not None:
            return
    assert record.evidence["errors"].champion == Tally(0, champion - 1000)
    assert record.evidence["errors"].candidate == Tally(bad, candidate)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', to_json(start()).replace('"step":0', '"steps":0')])
def test_another_text_is_no_record(text: str) -> None:
    with pytest.raises(ValueError, match="not a record of a canary"):
        parse(text)


@pytest.mark.parametrize("weights", [(), (10, 1), (0, 50), (50, 100), (1, 1)])
def test_weights_rise(weights: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="weights must increase"):
        replace(PLAN, weights=weights)


def test_rows_of_large_requests_do_not_end_a_step() -> None:
    plan = replace(canary_plan(has_labels=False), requests=50, step_seconds=10)

    def batch(at: float, requests: int) -> CanaryLook:
        counts = {
            guard.name: Tally(0, requests * (1000 if guard.name in ("drift", "quality") else 1))
            for guard in plan.guards
        }
        return CanaryLook(at, {"s1": counts}, {"s2": counts})

    record = begun("digits", "1", "2", batch(0, 0))
    decision, record = decided(plan, record, batch(10, 49))
    assert (decision.action, decision.reason) == (CanaryAction.HOLD, "49 requests in this step")
    assert decided(plan, record, batch(20, 50))[0].action is CanaryAction.ADVANCE
    low = replace(batch(20, 99), candidate={"s2": {"drift": Tally(40_000, 50_000)}})
    assert "of 50000 rows, champion" in decided(plan, record, low)[0].reason
