"""Instances that EC2 refuses to terminate: they are remembered, requested again apart from others, and paid for."""

import pytest

from landbridge.burst.model import ActionOutcome, BudgetHold, Down, Launch, Renew, State, Terminate, TerminationRefusal
from landbridge.burst.reconcile.clock_skew import TERMINATION_RETRY_SECONDS
from tests.unit.burst.situations import (
    IDLE,
    NOW,
    OFF,
    at,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    of,
    only_launch,
    slurm,
    success,
)

PROTECTED = {"i-1": ("OperationNotPermitted", "The instance 'i-1' may not be terminated.")}
GONE = slurm(states={"g-1": OFF, "g-2": OFF})
BOTH = ec2(instance("i-1", "g-1", token="t"), instance("i-2", "g-2", token="t"))
REFUSED = State(termination_refusals={"i-1": TerminationRefusal("OperationNotPermitted", "x", NOW - 60, NOW + 540)})


def after(outcome: ActionOutcome) -> State:
    decision = decide(GONE, BOTH)
    (terminate,) = of(decision, Terminate)
    assert terminate.instances == ("i-1", "i-2")
    return end(decision, terminate, outcome)


def test_a_refused_instance_is_remembered_and_the_others_count_as_terminated() -> None:
    state = after(ActionOutcome(refused=PROTECTED))
    assert state.termination_refusals == {
        "i-1": TerminationRefusal(*PROTECTED["i-1"], NOW, NOW + TERMINATION_RETRY_SECONDS)
    }
    assert set(state.terminated_at) == {"i-2"}
    decision = decide(at(GONE, NOW + 15), BOTH, state, now=NOW + 15)
    assert not of(decision, Terminate) and not events(decision, "terminate")


def test_a_failed_call_keeps_what_was_refused_before_it_failed() -> None:
    state = after(ActionOutcome("RequestLimitExceeded", "x", refused=PROTECTED))
    assert set(state.termination_refusals) == {"i-1"} and not state.terminated_at
    (again,) = of(decide(GONE, BOTH, state, now=NOW + 15), Terminate)
    assert again.instances == ("i-2",)


def test_a_refused_instance_is_requested_again_apart_from_others() -> None:
    later = NOW + 541
    decision = decide(at(GONE, later), BOTH, REFUSED, now=later)
    first, second = of(decision, Terminate)
    assert {first.instances, second.instances} == {("i-1",), ("i-2",)}
    retry = first if first.instances == ("i-1",) else second
    again = end(decision, retry, ActionOutcome(refused=PROTECTED), now=later).termination_refusals["i-1"]
    assert (again.since, again.until) == (NOW - 60, later + TERMINATION_RETRY_SECONDS)
    permitted = end(decision, retry, ActionOutcome(), now=later)
    assert not permitted.termination_refusals and "i-1" in permitted.terminated_at


def test_a_refusal_is_forgotten_when_the_instance_has_ended() -> None:
    assert decide(GONE, BOTH, REFUSED).state.termination_refusals
    ending = ec2(instance("i-1", "g-1", state="shutting-down"))
    assert not decide(GONE, ending, REFUSED).state.termination_refusals
    assert not decide(GONE, ec2(), REFUSED).state.termination_refusals
    assert decide(GONE, None, REFUSED).state.termination_refusals


def test_a_starting_node_gets_another_instance_than_the_refused_one() -> None:
    view = slurm(job(7, "g-1"))
    launch = only_launch(decide(view, ec2(instance("i-1", "g-1")), REFUSED))
    assert launch.gang.nodes == ("g-1",)
    assert not of(decide(view, ec2(instance("i-1", "g-1", jobs=(7,)))), Launch)


@pytest.mark.parametrize("hours", [0, 3])
def test_an_instance_that_runs_after_its_lease_is_held_for(hours: int) -> None:
    """Two nodes launched for an hour at 10 USD: after three hours the protected one costs more than both were held for."""
    view = slurm(job(7, "g-1", "g-2"))
    first = decide(view, ec2())
    launch = only_launch(first)
    state = end(first, launch, success(launch))
    held = sum(hold.usd for hold in state.holds.values())
    now = NOW + hours * 3600 + 60
    protected = instance("i-1", "g-1", token=launch.attempts[0].token, launched=NOW, lease=launch.attempts[0].lease)
    other = instance("i-2", "g-2", token=launch.attempts[0].token, launched=NOW, state="shutting-down")
    refusal = TerminationRefusal("OperationNotPermitted", "x", NOW, now + 300)
    refused = State(
        attempts=state.attempts, holds=state.holds, termination_refusals={"i-1": refusal}, last_observation_at=now - 15
    )
    decision = decide(at(GONE, now), ec2(protected, other), refused, now=now)
    (hold,) = decision.state.holds.values()
    assert hold.usd >= 10 * (now + 300 - NOW) / 3600
    assert (hold.usd > held / 2) is bool(hours) and not of(decision, Terminate)
    assert hold == next(
        iter(decide(at(GONE, now + 15), ec2(protected), decision.state, now=now + 15).state.holds.values())
    )


def test_an_instance_that_nothing_terminates_any_more_is_held_for_by_its_lease_alone() -> None:
    """A refused instance that is its node's again: after the time of the next request its cost is not permitted in
    advance, so a hard cap refuses to renew its lease."""
    poor = {"account": "poor", "token": "t", "lease": NOW - 1}
    hold = BudgetHold("poor", "gpu", 10.0, NOW - 600, NOW + 200)
    refusal = TerminationRefusal("OperationNotPermitted", "x", NOW - 600, NOW)
    state = State(
        holds={"i-1": hold},
        spent={("2027-01", "poor", "gpu"): 100.0},
        termination_refusals={"i-1": refusal},
        last_observation_at=NOW - 15,
    )
    decision = decide(slurm(states={"g-1": IDLE}), ec2(instance("i-1", "g-1", **poor)), state)
    (down,) = of(decision, Down)
    (terminate,) = of(decision, Terminate)
    assert down.code == "BUDGET" and terminate.instances == ("i-1",) and not of(decision, Renew)
    assert all(held.end <= hold.end for held in decision.state.holds.values())
