"""Whole decisions: a gang from its order to its end, without capacity, and without a response from EC2."""

from dataclasses import replace

import pytest

from landbridge.burst.model import (
    ActionOutcome,
    CircuitBreaker,
    Down,
    Launch,
    SetAddresses,
    State,
    Terminate,
)
from tests.unit.burst.situations import (
    NOW,
    OFFERINGS,
    at,
    changes_of,
    decide,
    ec2,
    end,
    job,
    launched,
    of,
    only_launch,
    site,
    slurm,
    success,
)

GANG = slurm(job(1, "g-1", "g-2", "g-3"))
ICE = ActionOutcome("InsufficientInstanceCapacity", "none left")
LOST = ActionOutcome("ReadTimeoutError", "no answer")


def test_a_gang_is_launched_addressed_terminated_and_removed_from_the_journal():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    assert first.state.attempts.keys() == {a.token for a in launch.attempts} == first.state.holds.keys()
    state = end(first, launch, success(launch))
    booting = launched(launch, success(launch))
    second = decide(at(GANG, NOW + 15), ec2(*booting), state, now=NOW + 15)
    (addressed,) = changes_of(second)
    assert isinstance(addressed, SetAddresses) and addressed.addresses["g-1"] == "10.1.0.1"
    state = end(second, addressed, ActionOutcome(), now=NOW + 15)
    assert not changes_of(decide(at(GANG, NOW + 30), ec2(*booting), state, now=NOW + 30))
    running = slurm(job(1, "g-1", "g-2", "g-3", state="RUNNING", started=NOW + 40))
    assert not changes_of(decide(running, ec2(*booting), state, now=NOW + 45))
    powering_down = slurm(states=dict.fromkeys(("g-1", "g-2", "g-3"), ("IDLE", "CLOUD", "POWERING_DOWN")))
    third = decide(powering_down, ec2(*booting), state, now=NOW + 900)
    (terminated,) = changes_of(third)
    assert isinstance(terminated, Terminate) and set(terminated.instances) == {"i-1", "i-2", "i-3"}
    state = end(third, terminated, ActionOutcome(), now=NOW + 900)
    remaining = decide(slurm(), ec2(), state, now=NOW + 1000).state
    assert not remaining.holds and remaining.spent
    assert decide(slurm(), ec2(), remaining, now=NOW + 99_999).state == replace(State(), spent=remaining.spent)


def test_a_gang_without_capacity_tries_every_offering_is_given_up_and_commented():
    state, offerings = State(), []
    for _ in range(3):
        decision = decide(GANG, ec2(), state)
        launch = only_launch(decision)
        offerings.append(launch.offering.key)
        state = end(decision, launch, ICE)
    assert offerings == ["p5/a/on-demand", "p5/b/on-demand", "p5e/b/on-demand"]
    decision = decide(GANG, ec2(), state)
    (down,) = decision.actions
    assert (down.nodes, down.code) == (("g-1", "g-2", "g-3"), "CAPACITY")
    pending = slurm(job(1, state="PENDING", started=None))
    later = decide(pending, ec2(), decision.state, now=NOW + 5)
    (comments,) = later.actions
    (comment,) = comments.comments
    assert comment.text.startswith("landbridge: CAPACITY") and comment.until == NOW + 60
    state = end(later, comments, ActionOutcome(jobs=frozenset({1})))
    assert not decide(pending, ec2(), state, now=NOW + 10).actions


@pytest.mark.parametrize("code", ["InvalidLaunchTemplateId.NotFound", "UnauthorizedOperation"])
def test_a_configuration_error_at_every_offering_stops_the_pool(code):
    state = State()
    for _ in OFFERINGS:
        decision = decide(GANG, ec2(), state)
        state = end(decision, only_launch(decision), ActionOutcome(code, "look here"))
    other = job(2, "g-5", "g-6")
    after = decide(slurm(job(1, "g-1", "g-2", "g-3"), other), ec2(), state)
    assert {down.code: down.nodes for down in of(after, Down)} == {
        "CONFIG": ("g-1", "g-2", "g-3"),
        "BREAKER": ("g-5", "g-6"),
    }
    assert not of(after, Launch)


def test_one_launch_is_tried_after_the_time_of_an_open_breaker():
    state = State(breakers={"gpu": CircuitBreaker("Broken", "x", NOW - 700, 1, NOW - 1)})
    both = slurm(job(1, "g-1", "g-2"), job(2, "g-3", "g-4"))
    decision = decide(both, ec2(), state)
    assert only_launch(decision).gang.jobs == (1,) and not of(decision, Down)
    assert decision.next_pass is not None and decision.next_pass <= NOW + 5


def test_a_drained_pool_starts_nothing():
    (down,) = decide(GANG, ec2(), State(drained={"gpu": "new image"})).actions
    assert down.code == "DRAINED" and "new image" in down.text


# Calls with an unknown result.


def test_a_call_without_a_response_is_repeated_unchanged():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    state = end(first, launch, LOST)
    waiting = decide(GANG, ec2(), state, now=NOW + 1)
    assert not waiting.actions and waiting.next_pass == NOW + 5
    repeated = only_launch(decide(at(GANG, NOW + 10), ec2(), state, now=NOW + 10))
    assert repeated == replace(launch, repeated=True)


def test_a_launch_interrupted_between_its_calls_is_completed():
    policy = site(launch_batch=2)
    first = decide(GANG, ec2(), policy=policy)
    launch = only_launch(first)
    assert [a.nodes for a in launch.attempts] == [("g-1", "g-2"), ("g-3",)]
    half = ActionOutcome(instances={"g-1": "i-1", "g-2": "i-2"}, addresses={"g-1": "10.1.0.1", "g-2": "10.1.0.2"})
    seen = launched(launch, half)
    completion = only_launch(decide(GANG, ec2(*seen), first.state, policy, NOW + 3))
    assert completion.repeated and completion.attempts == launch.attempts[1:]


def test_a_launch_that_ec2_shows_needs_no_second_call():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    decision = decide(GANG, ec2(*launched(launch, success(launch))), first.state, now=NOW + 3)
    assert not of(decision, Launch)
    (attempt,) = decision.state.attempts.values()
    assert attempt.ended == NOW + 3 and attempt.instances == success(launch).instances


def test_a_launch_that_ec2_shows_in_part_is_repeated():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    decision = decide(GANG, ec2(*launched(launch, success(launch))[:2]), first.state, now=NOW + 3)
    assert only_launch(decision).attempts == launch.attempts and only_launch(decision).repeated


def test_a_gang_waits_for_the_end_of_another_call_for_one_of_its_nodes():
    first = decide(slurm(job(1, "g-1"), job(2, "g-2")), ec2())
    state = end(first, only_launch(first), LOST)
    # Job 1 and job 2 with g-2 have ended: the earlier call is not needed any more.
    view = slurm(job(3, "g-1", "g-3"))
    assert not of(decide(view, ec2(), state, now=NOW + 20), Launch)
    state = decide(view, ec2(), state, now=NOW + 95).state
    assert only_launch(decide(view, ec2(), state, now=NOW + 100)).gang.nodes == ("g-1", "g-3")


def test_a_launch_that_ec2_shows_needs_no_second_call_without_a_journal():
    launch = only_launch(decide(GANG, ec2()))
    decision = decide(GANG, ec2(*launched(launch, success(launch))), now=NOW + 3)
    assert not of(decision, Launch) and not of(decision, Terminate) and decision.state.holds


def test_a_call_for_an_ended_job_is_forgotten_and_its_hold_kept_until_then():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), LOST)
    soon = decide(at(slurm(), NOW + 30), ec2(), state, now=NOW + 30)
    assert not changes_of(soon) and soon.state.holds
    state = decide(at(slurm(), NOW + 95), ec2(), soon.state, now=NOW + 95).state
    assert [a.code for a in state.attempts.values()] == ["FORGOTTEN"] and state.holds
    state = decide(at(slurm(), NOW + 190), ec2(), state, now=NOW + 190).state
    assert not state.attempts and not state.holds


def test_instances_of_a_forgotten_call_are_terminated():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    late = launched(launch, success(launch))
    decision = decide(slurm(), ec2(*late), first.state, now=NOW + 100)
    (action,) = changes_of(decision)
    assert isinstance(action, Terminate) and len(action.instances) == 3 and decision.state.holds


def test_a_gang_is_given_up_after_half_of_resume_timeout_without_a_response():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), LOST)
    for now, gives_up in ((NOW + 250, False), (NOW + 310, True)):
        decision = decide(at(GANG, now), ec2(), state, now=now)
        assert [down.code for down in of(decision, Down)] == (["NETWORK"] if gives_up else [])
        assert bool(of(decision, Launch)) != gives_up


@pytest.mark.parametrize("single", [True, False])
def test_without_a_view_of_ec2_nothing_is_launched_and_late_nodes_are_given_up(single):
    view = slurm(job(1, "g-1")) if single else GANG
    assert not decide(view, None).actions
    (down,) = decide(view, None, now=NOW + 301).actions
    assert down.code == "NETWORK"


def test_without_a_view_of_ec2_launched_nodes_are_kept():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), success(only_launch(first)))
    assert not decide(GANG, None, state, now=NOW + 500).actions


def test_only_nodes_that_waited_too_long_are_given_up():
    view = slurm(job(1, "g-1", started=NOW - 400), job(2, "g-2"))
    (down,) = decide(view, None).actions
    assert down.nodes == ("g-1",)


def test_a_throttled_launch_is_repeated_with_the_same_offering():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), ActionOutcome("RequestLimitExceeded", "slow down"))
    other = slurm(job(1, "g-1", "g-2", "g-3"), job(2, "g-5"))
    assert not decide(other, ec2(), state, now=NOW + 2).actions
    launches = of(decide(other, ec2(), state, now=NOW + 6), Launch)
    assert {launch.repeated for launch in launches} == {True, False} and {
        launch.offering.zone for launch in launches
    } == {"a"}


def test_a_batch_without_a_response_is_repeated_and_other_jobs_are_launched():
    first = decide(slurm(job(1, "g-1"), job(2, "g-2")), ec2())
    launch = only_launch(first)
    with_third = slurm(job(1, "g-1"), job(2, "g-2"), job(3, "g-3"))
    launches = {action.repeated: action for action in of(decide(with_third, ec2(), first.state, now=NOW + 3), Launch)}
    assert launches[True].attempts == launch.attempts and launches[True].tags == launch.tags
    assert launches[False].gang.nodes == ("g-3",)
