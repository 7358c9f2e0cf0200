"""Whole decisions: a gang from its order to its end, where nobody finds room for it, and where nobody answers."""

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
    at,
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


def test_a_gang_from_order_to_rest():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    assert first.state.attempts.keys() == {a.token for a in launch.attempts} == first.state.holds.keys()
    state = end(first, launch, success(launch))
    booting = launched(launch, success(launch))
    second = decide(at(GANG, NOW + 15), ec2(*booting), state, now=NOW + 15)
    (told,) = second.actions
    assert isinstance(told, SetAddresses) and told.addresses["g-1"] == "10.1.0.1"
    state = end(second, told, ActionOutcome(), now=NOW + 15)
    assert not decide(at(GANG, NOW + 30), ec2(*booting), state, now=NOW + 30).actions
    running = slurm(job(1, "g-1", "g-2", "g-3", state="RUNNING", started=NOW + 40))
    assert not decide(running, ec2(*booting), state, now=NOW + 45).actions
    over = slurm(states=dict.fromkeys(("g-1", "g-2", "g-3"), ("IDLE", "CLOUD", "POWERING_DOWN")))
    (gone,) = decide(over, ec2(*booting), state, now=NOW + 900).actions
    assert isinstance(gone, Terminate) and set(gone.instances) == {"i-1", "i-2", "i-3"}
    rest = decide(slurm(), ec2(), state, now=NOW + 1000).state
    assert not rest.holds and rest.spent
    assert decide(slurm(), ec2(), rest, now=NOW + 9999).state == replace(State(), spent=rest.spent)


def test_no_room_fails_over_and_in_the_end_gives_the_gang_up_and_tells_the_job():
    state, asked = State(), []
    for _ in range(3):
        decision = decide(GANG, ec2(), state)
        launch = only_launch(decision)
        asked.append(launch.offering.key)
        state = end(decision, launch, ICE)
    assert asked == ["p5/a/on-demand", "p5/b/on-demand", "p5e/b/on-demand"]
    decision = decide(GANG, ec2(), state)
    (down,) = decision.actions
    assert (down.nodes, down.code) == (("g-1", "g-2", "g-3"), "CAPACITY")
    pending = slurm(job(1, state="PENDING", started=None))
    later = decide(pending, ec2(), decision.state, now=NOW + 5)
    (tell,) = later.actions
    assert tell.text.startswith("landbridge: CAPACITY") and tell.until == NOW + 60
    state = end(later, tell, ActionOutcome())
    assert not decide(pending, ec2(), state, now=NOW + 10).actions


@pytest.mark.parametrize("code", ["InvalidLaunchTemplateId.NotFound", "UnauthorizedOperation"])
def test_a_fault_of_ours_does_not_fail_over_and_stops_everybody_else(code):
    decision = decide(GANG, ec2())
    state = end(decision, only_launch(decision), ActionOutcome(code, "look here"))
    other = job(2, "g-5", "g-6")
    after = decide(slurm(job(1, "g-1", "g-2", "g-3"), other), ec2(), state)
    assert {down.code: down.nodes for down in of(after, Down)} == {
        "CONFIG": ("g-1", "g-2", "g-3"),
        "BREAKER": ("g-5", "g-6"),
    }
    assert not of(after, Launch)


def test_one_probe_after_the_breaker_s_time():
    state = State(breakers={"gpu": CircuitBreaker("Broken", "x", NOW - 700, 1, NOW - 1)})
    both = slurm(job(1, "g-1", "g-2"), job(2, "g-3", "g-4"))
    decision = decide(both, ec2(), state)
    assert only_launch(decision).gang.jobs == (1,) and not of(decision, Down)
    assert decision.next_pass is not None and decision.next_pass <= NOW + 5


def test_a_drained_pool_starts_nothing():
    (down,) = decide(GANG, ec2(), State(drained={"gpu": "new image"})).actions
    assert down.code == "DRAINED" and "new image" in down.text


# What nobody knows the end of.


def test_a_call_without_an_answer_is_made_again_as_it_was():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    state = end(first, launch, LOST)
    waiting = decide(GANG, ec2(), state, now=NOW + 1)
    assert not waiting.actions and waiting.next_pass == state.throttled_until
    again = only_launch(decide(at(GANG, NOW + 10), ec2(), state, now=NOW + 10))
    assert again == replace(launch, repeated=True)


def test_a_crash_between_the_calls_of_a_gang_is_made_good():
    policy = site(launch_batch=2)
    first = decide(GANG, ec2(), policy=policy)
    launch = only_launch(first)
    assert [a.nodes for a in launch.attempts] == [("g-1", "g-2"), ("g-3",)]
    half = ActionOutcome(instances={"g-1": "i-1", "g-2": "i-2"}, addresses={"g-1": "10.1.0.1", "g-2": "10.1.0.2"})
    seen = launched(launch, half)
    again = only_launch(decide(GANG, ec2(*seen), first.state, policy, NOW + 3))
    assert again.repeated and again.attempts == launch.attempts[1:]


def test_a_launch_that_ec2_shows_needs_no_second_call():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    decision = decide(GANG, ec2(*launched(launch, success(launch))), first.state, now=NOW + 3)
    assert not of(decision, Launch)
    (attempt,) = decision.state.attempts.values()
    assert attempt.ended == NOW + 3 and attempt.instances == success(launch).instances


def test_what_ec2_shows_in_part_is_asked_for_once_more():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    decision = decide(GANG, ec2(*launched(launch, success(launch))[:2]), first.state, now=NOW + 3)
    assert only_launch(decision).attempts == launch.attempts and only_launch(decision).repeated


def test_a_gang_waits_for_the_end_of_another_call_for_one_of_its_nodes():
    first = decide(slurm(job(1, "g-1"), job(2, "g-2")), ec2())
    state = end(first, only_launch(first), LOST)
    # Job 1 is gone and g-2 with job 2: the call as it was is not wanted any more.
    view = slurm(job(3, "g-1", "g-3"))
    assert not of(decide(view, ec2(), state, now=NOW + 20), Launch)
    state = decide(view, ec2(), state, now=NOW + 95).state
    assert only_launch(decide(view, ec2(), state, now=NOW + 100)).gang.nodes == ("g-1", "g-3")


def test_with_a_lost_journal_as_well():
    launch = only_launch(decide(GANG, ec2()))
    decision = decide(GANG, ec2(*launched(launch, success(launch))), now=NOW + 3)
    assert not of(decision, Launch) and not of(decision, Terminate) and decision.state.holds


def test_a_call_for_a_gang_that_is_gone_is_forgotten_and_paid_until_then():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), LOST)
    soon = decide(at(slurm(), NOW + 30), ec2(), state, now=NOW + 30)
    assert not soon.actions and soon.state.holds
    state = decide(at(slurm(), NOW + 95), ec2(), soon.state, now=NOW + 95).state
    assert [a.code for a in state.attempts.values()] == ["FORGOTTEN"] and state.holds
    state = decide(at(slurm(), NOW + 190), ec2(), state, now=NOW + 190).state
    assert not state.attempts and not state.holds


def test_what_a_forgotten_call_started_ends():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    late = launched(launch, success(launch))
    decision = decide(slurm(), ec2(*late), first.state, now=NOW + 100)
    (action,) = decision.actions
    assert isinstance(action, Terminate) and len(action.instances) == 3 and decision.state.holds


def test_no_answer_for_half_of_resume_timeout_gives_up():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), LOST)
    for now, gives_up in ((NOW + 250, False), (NOW + 310, True)):
        decision = decide(at(GANG, now), ec2(), state, now=now)
        assert [down.code for down in of(decision, Down)] == (["NETWORK"] if gives_up else [])
        assert bool(of(decision, Launch)) != gives_up


@pytest.mark.parametrize("single", [True, False])
def test_in_the_dark_nothing_is_launched_and_late_nodes_are_given_up(single):
    view = slurm(job(1, "g-1")) if single else GANG
    assert not decide(view, None).actions
    (down,) = decide(view, None, now=NOW + 301).actions
    assert down.code == "NETWORK"


def test_in_the_dark_what_was_launched_is_believed():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), success(only_launch(first)))
    assert not decide(GANG, None, state, now=NOW + 500).actions


def test_only_nodes_that_waited_too_long_are_given_up():
    view = slurm(job(1, "g-1", started=NOW - 400), job(2, "g-2"))
    (down,) = decide(view, None).actions
    assert down.nodes == ("g-1",)


def test_throttled_waits_for_the_same_place():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), ActionOutcome("RequestLimitExceeded", "slow down"))
    other = slurm(job(1, "g-1", "g-2", "g-3"), job(2, "g-5"))
    assert not decide(other, ec2(), state, now=NOW + 2).actions
    found = of(decide(other, ec2(), state, now=NOW + 6), Launch)
    assert {launch.repeated for launch in found} == {True, False} and {launch.offering.zone for launch in found} == {
        "a"
    }


def test_a_batch_without_an_answer_is_repeated_and_others_go_on():
    first = decide(slurm(job(1, "g-1"), job(2, "g-2")), ec2())
    launch = only_launch(first)
    more = slurm(job(1, "g-1"), job(2, "g-2"), job(3, "g-3"))
    found = {one.repeated: one for one in of(decide(more, ec2(), first.state, now=NOW + 3), Launch)}
    assert found[True].attempts == launch.attempts and found[True].tags == launch.tags
    assert found[False].gang.nodes == ("g-3",)
