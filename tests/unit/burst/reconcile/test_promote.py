"""Promotion of waiting jobs to cloud partitions: jobs that would wait too long, are permitted there, and within budget."""

from dataclasses import replace

import pytest

from landbridge.burst.model import (
    ActionOutcome,
    Backoff,
    CircuitBreaker,
    CommentJobs,
    Promote,
    PromotionPolicy,
    State,
)
from landbridge.burst.reconcile.outcome_state import apply_outcome
from tests.unit.burst.situations import NOW, decide, ec2, job, of, offering, site, slurm

POLICY = site(promotions=(PromotionPolicy("gpu-home", ("gpu",), 600.0),))


def waiting(id=1, **fields):
    fields = {"wanted_nodes": 2, "eligible": NOW - 30, "started": None, **fields}
    return replace(job(id, state="PENDING", **fields), partition=fields.get("partition", "gpu-home"))


def promoted(*jobs, state=None, policy=POLICY):
    decision = decide(slurm(*jobs), ec2(), state, policy)
    return [(action.job, action.partitions) for action in of(decision, Promote)]


@pytest.mark.parametrize(
    ("fields", "permitted"),
    [
        ({"expected_start": NOW + 601}, True),
        ({"expected_start": NOW + 599}, False),
        ({"eligible": NOW - 601}, True),
        ({"eligible": NOW - 599}, False),
        ({"eligible": NOW - 3600, "expected_start": NOW + 60}, False),  # it starts on-prem before a node could boot
        ({"eligible": NOW - 3600, "expected_start": NOW - 60}, True),  # an estimate in the past is ignored
        ({"eligible": None}, False),  # it waits for another job
        ({"eligible": None, "expected_start": NOW + 3600}, False),
        ({"eligible": NOW + 3600, "expected_start": NOW + 3600}, False),  # its user's begin time
        ({"eligible": NOW + 60, "expected_start": NOW + 661}, True),
        ({"eligible": NOW - 3600, "account": "ward"}, False),
        ({"eligible": NOW - 3600, "account": "nobody"}, False),
        ({"eligible": NOW - 3600, "wckey": "patients"}, False),
        ({"eligible": NOW - 3600, "account": "poor", "minutes": 6000}, False),
        ({"eligible": NOW - 3600, "wanted_nodes": 9}, False),
        ({"eligible": NOW - 3600, "partition": "gpu-home,gpu"}, False),  # it has the partition already
        ({"eligible": NOW - 3600, "partition": "cpu"}, False),
    ],
)
def test_only_jobs_that_wait_too_long_and_may_burst_are_promoted(fields, permitted):
    partition = fields.pop("partition", "gpu-home")
    pending = replace(waiting(**fields), partition=partition)
    assert promoted(pending) == ([(1, ("gpu",))] if permitted else [])


@pytest.mark.parametrize(
    "state",
    [
        State(drained={"gpu": "work"}),
        State(breakers={"gpu": CircuitBreaker("x", "", NOW, 1, NOW + 60)}),
        State(backoffs={1: Backoff(NOW + 60, 1, "CAPACITY", "x")}),
    ],
)
def test_no_job_is_promoted_to_a_pool_that_starts_nothing(state):
    assert promoted(waiting(eligible=NOW - 3600), state=state) == []


def test_the_budget_counts_all_jobs_promoted_in_one_pass():
    many = [waiting(n, eligible=NOW - 3600 - n, account="poor", minutes=100) for n in (1, 2, 3)]
    assert [id for id, _ in promoted(*many)] == [3, 2]  # 37 USD each of 100, the longest waiting first


def test_an_offering_without_a_price_is_no_reason_to_promote_under_a_hard_cap():
    policy = replace(site((offering("a", usd=None),)), promotions=POLICY.promotions)
    assert promoted(waiting(eligible=NOW - 3600, account="poor"), policy=policy) == []
    assert promoted(waiting(eligible=NOW - 3600), policy=policy)


def test_a_pass_is_due_when_the_wait_becomes_too_long():
    assert decide(slurm(waiting(eligible=NOW - 500)), ec2(), policy=POLICY).next_pass == NOW + 100


REFUSED = "scontrol update jobid=1 partition=gpu-home,gpu: Access/permission denied for job 1"


def test_a_promotion_that_slurm_refuses_is_tried_again_later_and_later():
    view, state, waits = slurm(waiting(eligible=NOW - 3600)), None, []
    for _ in range(7):
        decision = decide(view, ec2(), state, POLICY)
        (action,) = of(decision, Promote)
        state = apply_outcome(decision.state, action, ActionOutcome("SLURM", REFUSED), POLICY, NOW)
        backoff = state.backoffs[1]
        assert (backoff.code, backoff.text) == ("CLASS", REFUSED)
        waits.append(backoff.until - NOW)
        again = decide(view, ec2(), state, POLICY)
        # No comment either: it would set the StartTime of a job that may start on-prem.
        assert not of(again, Promote) and not of(again, CommentJobs)
        state = replace(state, backoffs={1: replace(backoff, until=NOW)})
    assert waits == [60, 120, 240, 480, 960, 1800, 1800]


def test_a_promotion_that_slurm_does_not_answer_is_tried_again_at_once():
    view = slurm(waiting(eligible=NOW - 3600))
    decision = decide(view, ec2(), None, POLICY)
    (action,) = of(decision, Promote)
    state = apply_outcome(decision.state, action, ActionOutcome("SLURM", "scontrol update: timed out"), POLICY, NOW)
    assert of(decide(view, ec2(), state, POLICY), Promote) == [action]
