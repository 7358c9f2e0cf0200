"""Keeps of nodes: how long they last, what ends them, and what Slurm and the journal get."""

from dataclasses import replace
from typing import Any

import pytest

from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.model import (
    ActionOutcome,
    Down,
    KeepNodes,
    NodeKeep,
    PowerDown,
    ReconcileDecision,
    Renew,
    State,
)
from landbridge.burst.model.node_keep import MAX_KEEP_SECONDS
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    NOW,
    OFF,
    OFFERINGS,
    at,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    of,
    site,
    slurm,
)

KEEP = NodeKeep(NOW + 3600, NOW - 60, "profiles a job", "ann")
KEPT = State(keeps={"g-1": KEEP})


def decided(state: State = KEPT, words: tuple[str, ...] = IDLE, now: float = NOW, **fields: Any) -> ReconcileDecision:
    cloud = ec2(instance("i-1", "g-1", **{"lease": now + 7200, **fields}), at=now)
    return decide(at(slurm(states={"g-1": words}), now), cloud, state, now=now)


def test_slurm_does_not_suspend_a_kept_node() -> None:
    decision = decided()
    (keep,) = of(decision, KeepNodes)
    assert keep.nodes == ("g-1",) and {"g-1", "g-8", "b-4"} <= keep.owned
    assert decision.state.keeps == KEPT.keeps and decision.state.keeps_in_slurm.keys() == {"g-1"}


def test_without_a_keep_slurm_gets_no_command() -> None:
    assert not of(decided(State()), KeepNodes)


def test_each_pass_checks_it_because_slurm_may_have_forgotten_it() -> None:
    decision = decided()
    (keep,) = of(decision, KeepNodes)
    state = end(decision, keep, ActionOutcome())
    assert state.keeps_in_slurm.keys() == {"g-1"} and of(decided(state, now=NOW + 15), KeepNodes)


@pytest.mark.parametrize(
    ("words", "now", "text"),
    [
        (IDLE, KEEP.until, "it ended at"),
        (BUSY, KEEP.until + 100, "it ended at"),
        (OFF, NOW, "its node is powered down"),
        (("DOWN", "CLOUD"), NOW, "its node is powered down"),
    ],
)
def test_a_keep_ends_with_its_time_or_its_node(words: tuple[str, ...], now: float, text: str) -> None:
    state = replace(KEPT, keeps_in_slurm={"g-1": NOW - 60})
    decision = decided(state, words, now)
    (record,) = events(decision, "keep-ended")
    assert record.text.startswith(text) and record.text.endswith("kept by ann: profiles a job")
    (keep,) = of(decision, KeepNodes)
    assert keep.nodes == () and decision.state.keeps == {} and decision.state.keeps_in_slurm.keys() == {"g-1"}
    refused = end(decision, keep, ActionOutcome("SLURM", "no"), now=now)
    assert refused.keeps_in_slurm.keys() == {"g-1"}  # the next pass tries again
    assert outcome_records(keep, ActionOutcome("SLURM", "no"), now)
    released = end(decision, keep, ActionOutcome(), now=now)
    assert released.keeps_in_slurm == {} and not of(decided(released, words, now), KeepNodes)


def test_a_node_that_no_pool_has_is_not_kept() -> None:
    decision = decided(State(keeps={"x-9": KEEP}))
    assert decision.state.keeps == {} and events(decision, "keep-ended")


def test_a_pass_is_due_when_a_keep_ends() -> None:
    assert decided(State(keeps={"g-1": replace(KEEP, until=NOW + 9)})).next_pass == NOW + 9


def test_after_a_clock_was_set_back_no_keep_is_longer_than_permitted() -> None:
    decision = decided(State(keeps={"g-1": replace(KEEP, until=NOW + 30 * 86_400, since=NOW + 86_400)}))
    keep = decision.state.keeps["g-1"]
    assert (keep.since, keep.until) == (NOW, NOW + MAX_KEEP_SECONDS)


def test_the_launching_account_pays_and_its_budget_ends_the_keep() -> None:
    short = {"lease": NOW + 60, "account": "lab"}
    (renewal,) = of(decided(**short), Renew)
    assert renewal.instances == ("i-1",)
    poor = {"account": "poor", "lease": NOW - 1}
    policy = site(OFFERINGS)
    accounts = {**policy.accounts, "poor": replace(policy.accounts["poor"], monthly_usd=0.5)}
    cloud = ec2(instance("i-1", "g-1", **poor))
    decision = decide(slurm(states={"g-1": IDLE}), cloud, KEPT, replace(policy, accounts=accounts))
    assert [down.code for down in of(decision, Down)] == ["BUDGET"]


def test_a_kept_node_is_not_given_up_for_a_job_in_another_zone() -> None:
    view = slurm(job(1, "g-1", "g-2"), states={"g-1": BUSY, "g-2": BUSY, "g-3": IDLE})
    cloud = ec2(
        instance("i-1", "g-1"),
        instance("i-2", "g-2", subnet="subnet-b"),
        instance("i-3", "g-3", subnet="subnet-b"),
    )
    without = decide(view, cloud)
    assert [down.nodes for down in of(without, Down)] == [("g-1",)] or of(without, PowerDown)
    touched = {node for action in of(without, Down) + of(without, PowerDown) for node in action.nodes}
    assert touched
    decision = decide(view, cloud, State(keeps=dict.fromkeys(touched, KEEP)))
    given_up = {node for action in of(decision, Down) + of(decision, PowerDown) for node in action.nodes}
    assert given_up.isdisjoint(touched)
