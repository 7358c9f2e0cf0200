"""Journal state after the end of a launch, by kind of outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import (
    ActionOutcome,
    Backoff,
    CircuitBreaker,
    CommentJob,
    Down,
    InsufficientCapacity,
    Renew,
    SetAddresses,
    State,
    Terminate,
)
from landbridge.burst.reconcile.outcome_state import apply_outcome, jitter
from tests.unit.burst.situations import NOW, decide, ec2, end, job, only_launch, site, slurm, success

GANG = slurm(job(1, "g-1", "g-2"))
KEY = "p5/a/on-demand"


def ended(code, state=None, view=GANG, policy=None, **more):
    decision = decide(view, ec2(), state, policy)
    return end(decision, only_launch(decision), ActionOutcome(code, "words", **more), policy)


def attempt(state):
    (found,) = state.attempts.values()
    return found


@pytest.mark.parametrize("code", ["InsufficientInstanceCapacity", "VcpuLimitExceeded"])
def test_no_room_makes_a_drought(code):
    state = ended(code)
    drought = state.insufficient_capacity[KEY]
    assert (drought.code, drought.tries) == (code, 1) and NOW + 96 <= drought.until <= NOW + 144
    assert attempt(state).code == code and attempt(state).ended == NOW and not state.holds and not state.breakers


def test_a_gang_without_room_says_nothing_about_fewer_nodes():
    state = ended("InsufficientInstanceCapacity")
    assert state.insufficient_capacity[KEY].nodes == 2
    single = only_launch(decide(slurm(job(2, "g-5")), ec2(), state))
    assert single.offering.key == KEY
    larger = only_launch(decide(slurm(job(2, "g-5", "g-6", "g-7")), ec2(), state))
    assert larger.offering.key != KEY
    none = end(
        decide(slurm(job(2, "g-5")), ec2(), state), single, ActionOutcome("InsufficientInstanceCapacity", "words")
    )
    assert none.insufficient_capacity[KEY].nodes == 1


def test_a_batch_that_got_a_part_left_nothing():
    view = slurm(job(1, "g-1"), job(2, "g-2"))
    decision = decide(view, ec2())
    state = end(decision, only_launch(decision), ActionOutcome(instances={"g-1": "i-1"}, addresses={"g-1": "10.0.0.1"}))
    assert state.insufficient_capacity[KEY].nodes == 1


def test_droughts_grow_and_have_an_end():
    state, lengths = State(), []
    for _ in range(8):
        decision = decide(
            GANG,
            ec2(),
            State(
                insufficient_capacity={
                    key: InsufficientCapacity(NOW - 1, d.tries, d.code)
                    for key, d in state.insufficient_capacity.items()
                }
            ),
        )
        state = end(decision, only_launch(decision), ActionOutcome("InsufficientInstanceCapacity"))
        lengths.append(state.insufficient_capacity[KEY].until - NOW)
    # Doubling, give or take the jitter of a fifth.
    assert all(0.8 * 120 * 2**n <= length <= 1.2 * 120 * 2**n for n, length in enumerate(lengths[:4]))
    assert all(0.8 * 1800 <= length <= 1.2 * 1800 for length in lengths[4:])


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "ReadTimeoutError", "EndpointConnectionError"])
def test_nobody_knows_how_it_ended_so_it_is_asked_again(code):
    state = ended(code)
    assert (
        attempt(state).ended is None and state.holds and not state.insufficient_capacity and state.throttled_until > NOW
    )


def test_a_fault_of_ours_stops_the_pool_until_a_probe():
    state = ended("InvalidLaunchTemplateId.NotFound")
    breaker = state.breakers["gpu"]
    assert (breaker.code, breaker.count, breaker.until) == ("InvalidLaunchTemplateId.NotFound", 1, NOW + 600)
    assert attempt(state).ended == NOW and not state.holds and not state.insufficient_capacity


def test_a_token_that_an_older_journal_has_used_is_given_up_and_not_the_pool():
    state = ended("IdempotentParameterMismatch")
    assert attempt(state).ended == NOW and not state.breakers
    again = decide(GANG, ec2(), state)
    assert only_launch(again).attempts[0].token != attempt(state).token


def test_success_forgives():
    before = State(
        insufficient_capacity={
            KEY: InsufficientCapacity(NOW - 1, 3, "x"),
            "other": InsufficientCapacity(NOW + 60, 1, "x"),
        },
        breakers={"gpu": CircuitBreaker("x", "", NOW - 900, 2, NOW - 1)},
        backoffs={1: Backoff(NOW + 9, 2, "CAPACITY", "x"), 2: Backoff(NOW + 9, 1, "CAPACITY", "x")},
    )
    decision = decide(GANG, ec2(), before)
    state = end(decision, only_launch(decision), success(only_launch(decision)))
    assert set(state.insufficient_capacity) == {"other"} and not state.breakers
    assert state.backoffs[1].reported and not state.backoffs[2].reported
    assert attempt(state).instances == {"g-1": "i-1", "g-2": "i-2"} and attempt(state).code == ""


def test_fewer_instances_than_a_gang_needs_is_no_success():
    state = ended("", instances={"g-1": "i-1"})
    assert attempt(state).code == "InsufficientInstanceCapacity" and state.insufficient_capacity
    # What could not be ended still costs.
    assert sum(hold.usd for hold in state.holds.values()) == pytest.approx(10 * 71 / 60)


def test_a_batch_keeps_what_it_got():
    view = slurm(job(1, "g-1"), job(2, "g-2"))
    state = ended("", view=view, instances={"g-1": "i-1"})
    assert attempt(state).instances == {"g-1": "i-1"} and state.insufficient_capacity


def test_calls_of_one_gang_end_together():
    policy = site(launch_batch=1)
    decision = decide(GANG, ec2(), policy=policy)
    launch = only_launch(decision)
    assert len(launch.attempts) == 2
    state = end(decision, launch, ActionOutcome("InsufficientInstanceCapacity"), policy)
    assert all(one.ended == NOW and one.code for one in state.attempts.values()) and not state.holds
    state = end(decision, launch, ActionOutcome("ReadTimeoutError", instances={"g-1": "i-1"}), policy)
    assert all(one.ended is None for one in state.attempts.values()) and len(state.holds) == 2


@pytest.mark.parametrize(
    ("action", "changed"),
    [
        (Terminate(("i-1",), "SUSPENDED"), State(terminated_at={"i-1": NOW})),
        (SetAddresses({"g-1": "10.0.0.1"}), State(node_addresses={"g-1": "10.0.0.1"})),
        (Renew(("i-1",), NOW), State()),
        (Down(("g-1",), "GONE", "x"), State()),
    ],
)
def test_what_was_done_is_noted_and_what_failed_is_not(action, changed):
    assert apply_outcome(State(), action, ActionOutcome(), site(), NOW) == changed
    assert apply_outcome(State(), action, ActionOutcome("SLURM", "x"), site(), NOW) == State()


def test_a_job_is_told_once():
    before = State(backoffs={1: Backoff(NOW, 1, "CAPACITY", "x")})
    assert apply_outcome(before, CommentJob(1, "x", None), ActionOutcome(), site(), NOW).backoffs[1].reported
    assert apply_outcome(before, CommentJob(1, "x", None), ActionOutcome("SLURM"), site(), NOW) == before
    assert apply_outcome(before, CommentJob(2, "x", None), ActionOutcome(), site(), NOW) == before


@given(st.text())
def test_jitter_is_a_fifth_and_no_chance(key):
    assert 0.8 <= jitter(key) <= 1.2 and jitter(key) == jitter(key)
