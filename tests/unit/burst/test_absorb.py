"""What the end of a launch means for the journal, kind by kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import (
    Backoff,
    Breaker,
    Down,
    Drought,
    Outcome,
    Renew,
    SetAddresses,
    State,
    Tell,
    Terminate,
)
from landbridge.burst.reconcile.outcome_state import absorb, jitter
from tests.unit.burst.situations import NOW, decide, ec2, end, job, only_launch, site, slurm, success

GANG = slurm(job(1, "g-1", "g-2"))
KEY = "p5/a/on-demand"


def ended(code, state=None, view=GANG, policy=None, **more):
    decision = decide(view, ec2(), state, policy)
    return end(decision, only_launch(decision), Outcome(code, "words", **more), policy)


def attempt(state):
    (found,) = state.attempts.values()
    return found


@pytest.mark.parametrize("code", ["InsufficientInstanceCapacity", "VcpuLimitExceeded"])
def test_no_room_makes_a_drought(code):
    state = ended(code)
    drought = state.droughts[KEY]
    assert (drought.code, drought.tries) == (code, 1) and NOW + 96 <= drought.until <= NOW + 144
    assert attempt(state).code == code and attempt(state).ended == NOW and not state.holds and not state.breakers


def test_a_gang_without_room_says_nothing_about_fewer_nodes():
    state = ended("InsufficientInstanceCapacity")
    assert state.droughts[KEY].nodes == 2
    single = only_launch(decide(slurm(job(2, "g-5")), ec2(), state))
    assert single.place.key == KEY
    larger = only_launch(decide(slurm(job(2, "g-5", "g-6", "g-7")), ec2(), state))
    assert larger.place.key != KEY
    none = end(decide(slurm(job(2, "g-5")), ec2(), state), single, Outcome("InsufficientInstanceCapacity", "words"))
    assert none.droughts[KEY].nodes == 1


def test_a_batch_that_got_a_part_left_nothing():
    view = slurm(job(1, "g-1"), job(2, "g-2"))
    decision = decide(view, ec2())
    state = end(decision, only_launch(decision), Outcome(instances={"g-1": "i-1"}, addresses={"g-1": "10.0.0.1"}))
    assert state.droughts[KEY].nodes == 1


def test_droughts_grow_and_have_an_end():
    state, lengths = State(), []
    for _ in range(8):
        decision = decide(
            GANG, ec2(), State(droughts={key: Drought(NOW - 1, d.tries, d.code) for key, d in state.droughts.items()})
        )
        state = end(decision, only_launch(decision), Outcome("InsufficientInstanceCapacity"))
        lengths.append(state.droughts[KEY].until - NOW)
    # Doubling, give or take the jitter of a fifth.
    assert all(0.8 * 120 * 2**n <= length <= 1.2 * 120 * 2**n for n, length in enumerate(lengths[:4]))
    assert all(0.8 * 1800 <= length <= 1.2 * 1800 for length in lengths[4:])


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "ReadTimeoutError", "EndpointConnectionError"])
def test_nobody_knows_how_it_ended_so_it_is_asked_again(code):
    state = ended(code)
    assert attempt(state).ended is None and state.holds and not state.droughts and state.throttled_until > NOW


def test_a_fault_of_ours_stops_the_pool_until_a_probe():
    state = ended("InvalidLaunchTemplateId.NotFound")
    breaker = state.breakers["gpu"]
    assert (breaker.code, breaker.count, breaker.until) == ("InvalidLaunchTemplateId.NotFound", 1, NOW + 600)
    assert attempt(state).ended == NOW and not state.holds and not state.droughts


def test_a_token_that_an_older_journal_has_used_is_given_up_and_not_the_pool():
    state = ended("IdempotentParameterMismatch")
    assert attempt(state).ended == NOW and not state.breakers
    again = decide(GANG, ec2(), state)
    assert only_launch(again).attempts[0].token != attempt(state).token


def test_success_forgives():
    before = State(
        droughts={KEY: Drought(NOW - 1, 3, "x"), "other": Drought(NOW + 60, 1, "x")},
        breakers={"gpu": Breaker("x", "", NOW - 900, 2, NOW - 1)},
        backoffs={1: Backoff(NOW + 9, 2, "CAPACITY", "x"), 2: Backoff(NOW + 9, 1, "CAPACITY", "x")},
    )
    decision = decide(GANG, ec2(), before)
    state = end(decision, only_launch(decision), success(only_launch(decision)))
    assert set(state.droughts) == {"other"} and not state.breakers
    assert state.backoffs[1].told and not state.backoffs[2].told
    assert attempt(state).instances == {"g-1": "i-1", "g-2": "i-2"} and attempt(state).code == ""


def test_fewer_instances_than_a_gang_needs_is_no_success():
    state = ended("", instances={"g-1": "i-1"})
    assert attempt(state).code == "InsufficientInstanceCapacity" and state.droughts
    # What could not be ended still costs.
    assert sum(hold.usd for hold in state.holds.values()) == pytest.approx(10 * 71 / 60)


def test_a_batch_keeps_what_it_got():
    view = slurm(job(1, "g-1"), job(2, "g-2"))
    state = ended("", view=view, instances={"g-1": "i-1"})
    assert attempt(state).instances == {"g-1": "i-1"} and state.droughts


def test_calls_of_one_gang_end_together():
    policy = site(launch_batch=1)
    decision = decide(GANG, ec2(), policy=policy)
    launch = only_launch(decision)
    assert len(launch.attempts) == 2
    state = end(decision, launch, Outcome("InsufficientInstanceCapacity"), policy)
    assert all(one.ended == NOW and one.code for one in state.attempts.values()) and not state.holds
    state = end(decision, launch, Outcome("ReadTimeoutError", instances={"g-1": "i-1"}), policy)
    assert all(one.ended is None for one in state.attempts.values()) and len(state.holds) == 2


@pytest.mark.parametrize(
    ("action", "changed"),
    [
        (Terminate(("i-1",), "SUSPENDED"), {"ended:i-1": NOW}),
        (SetAddresses({"g-1": "10.0.0.1"}), {"address:g-1=10.0.0.1": NOW}),
        (Renew(("i-1",), NOW), {}),
        (Down(("g-1",), "GONE", "x"), {}),
    ],
)
def test_what_was_done_is_noted_and_what_failed_is_not(action, changed):
    assert absorb(State(), action, Outcome(), site(), NOW).suspects == changed
    assert absorb(State(), action, Outcome("SLURM", "x"), site(), NOW) == State()


def test_a_job_is_told_once():
    before = State(backoffs={1: Backoff(NOW, 1, "CAPACITY", "x")})
    assert absorb(before, Tell(1, "x", None), Outcome(), site(), NOW).backoffs[1].told
    assert absorb(before, Tell(1, "x", None), Outcome("SLURM"), site(), NOW) == before
    assert absorb(before, Tell(2, "x", None), Outcome(), site(), NOW) == before


@given(st.text())
def test_jitter_is_a_fifth_and_no_chance(key):
    assert 0.8 <= jitter(key) <= 1.2 and jitter(key) == jitter(key)
