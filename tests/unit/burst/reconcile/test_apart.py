"""Jobs whose nodes are apart, in several zones or of several instance types: moved before they start, else reported."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from landbridge.burst.model import (
    Backoff,
    CloudInstance,
    Down,
    InsufficientCapacity,
    Launch,
    PowerDown,
    ReconcileDecision,
    RequeueJobs,
    SlurmJob,
    SlurmNode,
    State,
    Terminate,
)
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    NOW,
    RISING,
    at,
    decide,
    ec2,
    events,
    instance,
    job,
    of,
    offering,
    site,
    slurm,
)

A, B, B_P5E = ("subnet-a", "p5"), ("subnet-b", "p5"), ("subnet-b", "p5e")


def cloud(locations: Mapping[str, tuple[str, str]], **fields: Any) -> tuple[CloudInstance, ...]:
    return tuple(
        instance(f"i-{node}", node, subnet=subnet, type=kind, **fields) for node, (subnet, kind) in locations.items()
    )


def decision_of(
    *jobs: SlurmJob, on: Mapping[str, tuple[str, str]], nodes: tuple[SlurmNode, ...] = (), **settings: Any
) -> ReconcileDecision:
    """Return the decision about jobs; nodes with an instance are up, idle ones without a job."""
    held = {node for member in jobs for node in member.nodes}
    states = {node: BUSY if node in held else IDLE for node in on}
    return decide(slurm(*jobs, states=states, nodes=nodes), ec2(*cloud(on)), **settings)


def downed(decision: ReconcileDecision) -> set[str]:
    return {node for down in of(decision, Down) for node in down.nodes}


def powered_down(decision: ReconcileDecision) -> set[str]:
    return {node for action in of(decision, PowerDown) for node in action.nodes}


PAIR = job(1, "g-1", "g-2")
TRIPLE = job(1, "g-1", "g-2", "g-3")
SHARED = job(9, "g-2", state="RUNNING")


@pytest.mark.parametrize(
    ("waiting", "on", "given_up"),
    [
        (PAIR, {"g-1": A, "g-2": B}, {"g-2"}),
        (PAIR, {"g-1": B_P5E, "g-2": B}, {"g-1"}),
        (TRIPLE, {"g-1": B_P5E, "g-2": B, "g-3": B_P5E}, {"g-2"}),
        (TRIPLE, {"g-1": A, "g-2": B, "g-3": B}, {"g-1"}),
        (TRIPLE, {"g-1": A, "g-2": B}, {"g-2", "g-3"}),
    ],
    ids=["the pool prefers zone a", "the pool prefers p5", "most have p5e", "most are in b", "and one has no instance"],
)
def test_a_job_that_waits_on_nodes_apart_gives_up_the_fewer_ones(
    waiting: SlurmJob, on: Mapping[str, tuple[str, str]], given_up: set[str]
) -> None:
    decision = decision_of(waiting, on=on)
    assert downed(decision) == given_up and not of(decision, Launch)
    ended = {instance_id for action in of(decision, Terminate) for instance_id in action.instances}
    assert ended == {f"i-{node}" for node in given_up if node in on}
    (down,) = of(decision, Down)
    assert down.code == "APART" and decision.state.backoffs[1].text == down.text


def test_the_user_reads_where_the_nodes_were() -> None:
    decision = decision_of(TRIPLE, on={"g-1": A, "g-2": B_P5E, "g-3": B_P5E})
    assert decision.state.backoffs[1].text == (
        "a job is in one zone and has one instance type, and its nodes were in p5e/b (2), p5/a (1)"
    )


def test_idle_nodes_elsewhere_are_powered_down_so_that_slurm_does_not_choose_them_again() -> None:
    on = {"g-1": A, "g-2": A, "g-3": B, "g-4": A, "g-5": B, "g-6": B_P5E}
    decision = decision_of(TRIPLE, on=on)
    assert downed(decision) == {"g-3"} and powered_down(decision) == {"g-5", "g-6"}
    assert {action.code for action in of(decision, PowerDown)} == {"APART"}


def test_the_location_with_most_idle_nodes_is_kept() -> None:
    decision = decision_of(PAIR, on={"g-1": A, "g-2": B, "g-3": B})
    assert downed(decision) == {"g-1"} and not powered_down(decision)


def test_a_node_that_starts_with_an_instance_counts() -> None:
    view = slurm(PAIR, states={"g-1": BUSY, "g-2": RISING})
    assert downed(decide(view, ec2(*cloud({"g-1": A, "g-2": B})))) == {"g-2"}


def test_nodes_that_start_in_the_kept_location_go_on_starting() -> None:
    view = slurm(job(1, "g-1", "g-2", "g-3", "g-4"), states={"g-1": BUSY})
    decision = decide(view, ec2(*cloud({"g-1": A, "g-2": B, "g-3": B})))
    assert downed(decision) == {"g-1", "g-4"}


def test_a_node_that_another_job_uses_stays() -> None:
    decision = decision_of(PAIR, SHARED, on={"g-1": A, "g-2": B})
    assert downed(decision) == {"g-1"}


@pytest.mark.parametrize(
    ("jobs", "settings"),
    [
        ((replace(PAIR, state="RUNNING"),), {}),
        ((replace(PAIR, may_requeue=False),), {}),
        ((PAIR, SHARED, job(8, "g-1", state="RUNNING")), {}),
        ((PAIR,), {"nodes": (SlurmNode("g-1", frozenset({*BUSY, "DRAIN"}), "ann"), SlurmNode("g-2", frozenset({*BUSY, "DRAIN"}), "ann"))}),
    ],
    ids=["runs", "cannot be requeued", "other jobs use both nodes", "an operator keeps both nodes"],
)  # fmt: skip
def test_a_job_that_cannot_be_moved_is_reported_once(jobs: tuple[SlurmJob, ...], settings: dict[str, Any]) -> None:
    on = {"g-1": A, "g-2": B, "g-3": B}
    decision = decision_of(*jobs, on=on, **settings)
    assert not downed(decision) and not powered_down(decision) and not decision.state.backoffs
    (record,) = events(decision, "apart")
    assert (record.code, record.jobs, record.nodes) == ("APART", (1,), ("g-1", "g-2"))
    later = decision_of(*jobs, on=on, state=decision.state, now=NOW + 15, **settings)
    assert not downed(later) and not events(later, "apart")


def test_a_job_does_not_wait_for_an_aws_that_does_not_answer() -> None:
    launched = decision_of(job(5, "g-1"), on={"g-1": A, "g-2": B}).state
    blind = decide(slurm(PAIR, states={"g-1": BUSY, "g-2": BUSY}), None, launched)
    assert not downed(blind) and len(events(blind, "apart")) == 1


@pytest.mark.parametrize(
    ("jobs", "on"),
    [
        ((job(1, "g-1"), job(2, "g-2")), {"g-1": A, "g-2": B}),
        ((PAIR,), {"g-1": B, "g-2": B, "g-3": A}),
        ((job(1, "g-1", het_job=1), job(2, "g-2", het_job=1)), {"g-1": A, "g-2": B}),
        ((job(1, "onprem-1", "g-1"),), {"g-1": B}),
    ],
    ids=["jobs of one node", "all in one location", "components of a het job", "with an on-prem node"],
)
def test_other_jobs_are_not_changed(jobs: tuple[SlurmJob, ...], on: Mapping[str, tuple[str, str]]) -> None:
    decision = decision_of(*jobs, on=on)
    assert not downed(decision) and not powered_down(decision) and not events(decision, "apart")


def test_all_components_of_a_het_job_are_requeued_with_the_one_that_is_apart() -> None:
    jobs = job(1, "g-1", "g-2", het_job=1), job(2, "g-3", "g-4", het_job=1)
    decision = decision_of(*jobs, on={"g-1": A, "g-2": B, "g-3": B})
    assert downed(decision) == {"g-1", "g-4"} and set(decision.state.backoffs) == {1, 2}
    assert not of(decision, Launch)


def test_a_restricted_job_is_refused_for_that_reason() -> None:
    decision = decision_of(replace(PAIR, account="ward"), on={"g-1": A, "g-2": B})
    # The nodes are another account's, and stay.
    assert [requeue.code for requeue in of(decision, RequeueJobs)] == ["RESIDENCY"] and not downed(decision)


# The rest of a job.


@pytest.mark.parametrize(
    ("waiting", "on", "expected"),
    [
        (PAIR, {"g-1": B_P5E}, ("b", "p5e")),
        (replace(TRIPLE, may_requeue=False), {"g-1": B_P5E, "g-2": A}, ("a", "p5")),
        (replace(job(1, "g-1", "g-2", "g-3", "g-4"), may_requeue=False), {"g-1": B_P5E, "g-2": A, "g-3": B_P5E}, ("b", "p5e")),
    ],
    ids=["one idle node", "two idle nodes apart", "most idle nodes"],
)  # fmt: skip
def test_the_rest_of_a_job_is_launched_where_its_nodes_are(
    waiting: SlurmJob, on: Mapping[str, tuple[str, str]], expected: tuple[str, str]
) -> None:
    (launch,) = of(decision_of(waiting, on=on), Launch)
    assert (launch.offering.zone, launch.offering.instance_type) == expected


def test_the_rest_is_not_launched_elsewhere_without_capacity() -> None:
    policy = site((offering("a"), offering("b", "p5e")))
    decision = decision_of(PAIR, on={"g-1": ("subnet-b", "p5")}, policy=policy)
    assert not of(decision, Launch) and downed(decision) == {"g-2"}


def test_a_moved_job_gets_the_nodes_that_it_kept_and_new_ones_beside_them() -> None:
    moved = decision_of(TRIPLE, on={"g-1": A, "g-2": B, "g-3": A})
    assert downed(moved) == {"g-2"}
    now = NOW + 120
    again = replace(job(1, "g-1", "g-3", "g-4"), restarts=1, started=now - 5)
    view = slurm(again, states={"g-1": BUSY, "g-3": BUSY})
    decision = decide(at(view, now), ec2(*cloud({"g-1": A, "g-3": A})), State(), now=now)
    (launch,) = of(decision, Launch)
    assert launch.gang.nodes == ("g-4",) and launch.offering.zone == "a" and not of(decision, Down)


@pytest.mark.parametrize(
    ("tries", "others", "full", "given_up"),
    [
        (2, (), "a", {"g-2"}),
        (3, (), "a", {"g-1", "g-2"}),
        (3, (), "ab", {"g-2"}),
        (3, (job(9, "g-1", state="RUNNING"),), "a", {"g-2"}),
    ],
    ids=["tried twice", "tried often", "no other zone has capacity", "another job uses the node"],
)
def test_a_job_leaves_its_idle_nodes_after_some_tries_without_capacity_beside_them(
    tries: int, others: tuple[SlurmJob, ...], full: str, given_up: set[str]
) -> None:
    policy = site((offering("a"), offering("b")))
    state = State(
        backoffs={1: Backoff(NOW - 1, tries, "CAPACITY", "x")},
        insufficient_capacity={
            f"p5/{zone}/on-demand": InsufficientCapacity(NOW + 90, 1, "InsufficientInstanceCapacity") for zone in full
        },
    )
    decision = decision_of(PAIR, *others, on={"g-1": A}, policy=policy, state=state)
    assert downed(decision) == given_up and {down.code for down in of(decision, Down)} == {"CAPACITY"}
