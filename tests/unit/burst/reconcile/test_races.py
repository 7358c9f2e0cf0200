"""Gangs that fail while they start, and the effect of races and clock changes on a decision."""

from dataclasses import replace

import pytest

from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    Backoff,
    BudgetHold,
    CircuitBreaker,
    Down,
    InsufficientCapacity,
    Launch,
    Observation,
    ObservationKind,
    SetAddresses,
    SlurmNode,
    SlurmOrder,
    State,
    Terminate,
)
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    RISING,
    at,
    changes_of,
    decide,
    ec2,
    end,
    instance,
    job,
    launched,
    of,
    offering,
    only_launch,
    site,
    slurm,
    success,
)

GANG = slurm(job(1, "g-1", "g-2", "g-3"))
ICE = ActionOutcome("InsufficientInstanceCapacity", "none left")
LOST = ActionOutcome("ReadTimeoutError", "no answer")


# Gangs that fail.

ORPHAN = Observation(ObservationKind.INSTANCE_WITHOUT_NODE, "i-1")


@pytest.mark.parametrize("shown", ["shutting-down", None])
def test_a_gang_that_loses_an_instance_while_booting_is_given_up(shown):
    first = decide(GANG, ec2())
    launch = only_launch(first)
    state = end(first, launch, success(launch))
    lost, *others = launched(launch, success(launch))
    ending = [replace(lost, state=shown)] if shown else []
    now = NOW + (30 if shown else 100)  # if EC2 does not show it at all, it may only be hidden
    decision = decide(at(GANG, now), ec2(*ending, *others), state, now=now)
    (down,) = of(decision, Down)
    assert down.nodes == ("g-1", "g-2", "g-3") and down.code == "GONE"
    assert {id for action in of(decision, Terminate) for id in action.instances} == {"i-2", "i-3"}
    assert not of(decision, Launch)


def test_a_launch_has_the_same_token_after_the_loss_of_the_journal():
    earlier = decide(slurm(job(1, "g-1")), ec2())
    state = end(earlier, only_launch(earlier), success(only_launch(earlier)))
    running = ec2(*launched(only_launch(earlier), success(only_launch(earlier))))
    both = at(slurm(job(1, "g-1"), job(2, "g-2", started=NOW + 4)), NOW + 5)
    known = only_launch(decide(both, running, state, now=NOW + 5))
    lost = only_launch(decide(both, running, State(), now=NOW + 6))
    assert known.attempts[0].token == lost.attempts[0].token


@pytest.mark.parametrize("state", [State(), State(orders=(SlurmOrder(1, "suspend", ("g-1", "g-2"), NOW - 1),))])
@pytest.mark.parametrize("nodes", [("g-1",), ("g-1", "g-2")])
def test_a_job_that_started_between_the_queries_of_nodes_and_jobs_keeps_its_nodes(nodes, state):
    # The second query shows the job running, with another start time, which would change its token.
    torn = slurm(job(1, *nodes, state="RUNNING", started=NOW), states=dict.fromkeys(nodes, RISING))
    hidden = decide(torn, ec2(), state)
    assert not of(hidden, Launch) and not of(hidden, Down)
    shown = ec2(*(instance(f"i-{name[-1]}", name, launched=NOW - 60) for name in nodes))
    seen = decide(torn, shown, state)
    assert not [*of(seen, Launch), *of(seen, Terminate), *of(seen, Down), *of(seen, SetAddresses)]


def test_instances_of_a_gang_whose_launch_failed_are_terminated():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    state = end(first, launch, ActionOutcome("InsufficientInstanceCapacity", "", {"g-1": "i-1"}))
    running = launched(launch, ActionOutcome(instances={"g-1": "i-1"}, addresses={"g-1": "10.1.0.1"}))
    decision = decide(GANG, ec2(*running), state)
    assert [action.instances for action in of(decision, Terminate)] == [("i-1",)]
    assert only_launch(decision).gang.nodes == ("g-1", "g-2", "g-3")  # the whole gang, with the next offering
    assert only_launch(decision).offering.zone == "b"


def test_instances_launched_by_an_older_journal_with_the_same_token_are_kept():
    first = decide(GANG, ec2())
    launch = only_launch(first)
    state = end(first, launch, ActionOutcome("IdempotentParameterMismatch", "other parameters"))
    for states in ({}, dict.fromkeys(("g-1", "g-2", "g-3"), BUSY)):
        view = slurm(job(1, "g-1", "g-2", "g-3"), states=states)
        assert not of(decide(view, ec2(*launched(launch, success(launch))), state), Terminate)


@pytest.mark.parametrize("ahead", [-600.0, 600.0])
def test_a_token_used_by_an_older_journal_is_replaced(ahead):
    """Cover also a job start that was dated by a wrong clock, which has been corrected since."""
    gang = slurm(job(1, "g-1", "g-2", "g-3", started=NOW + ahead))
    first = decide(gang, ec2())
    state = end(first, only_launch(first), ActionOutcome("IdempotentParameterMismatch", "other parameters"))
    next_launch = only_launch(decide(gang, ec2(), state))
    assert next_launch.offering == only_launch(first).offering
    assert next_launch.attempts[0].token != only_launch(first).attempts[0].token


def test_a_call_for_a_block_that_is_not_open_after_a_clock_correction_is_not_repeated():
    block = offering("b", market="capacity-block", key="block", opens=NOW + 600, closes=NOW + 9000)
    policy = site(offerings=(block,))
    ahead = NOW + 900
    first = decide(at(GANG, ahead), ec2(at=ahead), policy=policy, now=ahead)
    state = end(first, only_launch(first), LOST, policy=policy, now=ahead)
    assert only_launch(decide(at(GANG, ahead + 5), ec2(), state, policy, now=ahead + 5)).repeated
    assert not of(decide(GANG, ec2(), state, policy), Launch)


def test_components_of_a_het_job_in_two_pools_start_all_or_none():
    het = slurm(job(1, "g-1", "g-2", het_job=1), job(2, "b-1", het_job=1))
    assert len(of(decide(het, ec2()), Launch)) == 2
    dry = State(
        insufficient_capacity={"p4d/a/on-demand": InsufficientCapacity(NOW + 60, 1, "InsufficientInstanceCapacity")}
    )
    decision = decide(het, ec2(), dry)
    assert not of(decision, Launch) and {node for down in of(decision, Down) for node in down.nodes} == {
        "g-1",
        "g-2",
        "b-1",
    }
    assert set(decision.state.backoffs) == {1, 2} and not decision.state.holds


def test_a_single_node_whose_instance_vanishes_is_launched_three_times():
    state, launches, view = State(), 0, slurm(job(1, "g-1"))
    for n in range(6):
        now = NOW + 100 * n
        decision = decide(at(view, now), ec2(), state, now=now)
        state = decision.state
        for launch in of(decision, Launch):
            launches += 1
            state = end(decision, launch, success(launch, 10 * n), now=now)
        if of(decision, Down):
            break
    assert launches == 3 and [down.code for down in of(decision, Down)] == ["GONE"]
    assert len(set(state.attempts)) == 3


def test_a_job_in_backoff_is_given_up_until_its_time():
    state = State(backoffs={1: Backoff(NOW + 50, 1, "GONE", "it ended", reported=True)})
    (down,) = decide(GANG, ec2(), state).actions
    assert down.code == "GONE"
    assert of(decide(GANG, ec2(), state, now=NOW + 51), Launch)


def test_a_failure_seen_twice_counts_once_and_the_next_one_has_a_longer_backoff():
    state = decide(GANG, ec2(), State(drained={"gpu": "x"})).state
    second = decide(GANG, ec2(), state, now=NOW + 30).state
    assert second.backoffs[1].until == NOW + 60 and second.backoffs[1].tries == 1
    third = decide(GANG, ec2(), second, now=NOW + 90).state
    assert third.backoffs[1].until == NOW + 90 + 120 and third.backoffs[1].tries == 2


# Races and clocks.


def test_a_second_resume_order_changes_nothing():
    order = SlurmOrder(1, "resume", ("g-1", "g-2", "g-3"), NOW - 5, {1: ("g-1", "g-2", "g-3")})
    once = decide(GANG, ec2(), State(orders=(order,)))
    twice = decide(GANG, ec2(), State(orders=(order, replace(order, seq=2))))
    assert once.actions == twice.actions
    assert not of(decide(GANG, ec2(), twice.state, now=NOW + 2), Terminate)


def test_a_job_that_takes_over_a_booting_node_keeps_its_instance():
    first = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(first)
    state = end(first, launch, success(launch))
    view = slurm(job(2, "g-1", started=NOW + 60))
    decision = decide(view, ec2(*launched(launch, success(launch))), state, now=NOW + 65)
    assert not of(decision, Launch) and not of(decision, Terminate)


@pytest.mark.parametrize("back", [100.0, 3600.0, 1e6])
def test_times_in_the_journal_are_shortened_after_a_clock_was_set_back(back):
    state = State(
        attempts={"t": Attempt("t", "9.0/gpu", "gpu", "p", ("g-8",), (9,), "lab", True, NOW, NOW, 5, 1)},
        holds={"t": BudgetHold("lab", "gpu", 5, NOW, NOW + 600)},
        insufficient_capacity={"p5/a/on-demand": InsufficientCapacity(NOW + 100, 2, "x")},
        breakers={"gpu": CircuitBreaker("x", "", NOW, 1, NOW + 600)},
        backoffs={1: Backoff(NOW + 1800, 9, "GONE", "x")},
        first_seen={ORPHAN: NOW},
        orders=(SlurmOrder(1, "suspend", ("g-1",), NOW),),
        throttled_until={"r/gpu": NOW + 5},
    )
    now = NOW - back
    after = decide(at(slurm(), now), ec2(instance("i-1", "")), state, now=now).state
    assert after.throttled_until["r/gpu"] <= now + 5 and after.breakers["gpu"].until <= now + 600
    assert (
        after.insufficient_capacity["p5/a/on-demand"].until <= now + 1800 * 1.2
        and after.backoffs[1].until <= now + 1800
    )
    assert after.attempts["t"].created_at == now and not after.orders and after.first_seen[ORPHAN] == now


def test_a_clock_set_forward_terminates_no_running_gang():
    first = decide(GANG, ec2())
    state = end(first, only_launch(first), success(only_launch(first)))
    up = slurm(job(1, "g-1", "g-2", "g-3", state="RUNNING"))
    decision = decide(up, ec2(*launched(only_launch(first), success(only_launch(first)))), state, now=NOW + 86400)
    assert not of(decision, Terminate) and not of(decision, Down)


def test_addresses_are_set_once_and_again_if_slurm_has_another():
    booting = instance("i-1", "g-1", jobs=(1,))
    view = slurm(job(1, "g-1"))
    first = decide(view, ec2(booting))
    (action,) = of(first, SetAddresses)
    state = end(first, action, ActionOutcome())
    assert not changes_of(decide(view, ec2(booting), state))
    wrong = slurm(job(1, "g-1"), nodes=[SlurmNode("g-1", frozenset(RISING), address="10.9.9.9")])
    assert of(decide(wrong, ec2(booting), state), SetAddresses)
