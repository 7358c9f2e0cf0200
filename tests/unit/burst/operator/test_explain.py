"""Explanations of jobs from the journal: state, earlier decisions and advice."""

import pytest

from landbridge.burst.model import (
    Attempt,
    Backoff,
    BudgetHold,
    DecisionRecord,
    PromotionPolicy,
    SlurmJob,
    State,
)
from landbridge.burst.operator.explain import ADVICE, ENDED_ADVICE, explain_job
from tests.unit.burst.situations import (
    NOW,
    OFFERINGS,
    site,
)

PENDING = SlurmJob(7, "PENDING", partition="gpu", account="lab", eligible=NOW - 60)


def test_the_explanation_of_a_restricted_job_is_residency_alone() -> None:
    answer = explain_job(7, SlurmJob(7, "PENDING", partition="gpu", account="ward"), State(), site(), (), NOW)
    assert [(point.about, point.code) for point in answer.now] == [("job", ""), ("policy", "RESIDENCY")]
    assert "patients" in answer.now[1].text
    assert answer.do == (ADVICE["RESIDENCY"],)


def test_the_explanation_of_a_job_without_capacity_has_offerings_prices_and_the_next_attempt() -> None:
    rejected = [{"offering": OFFERINGS[0].key, "code": "CAPACITY", "why": "none left", "usd": 10.0}]
    records = [
        DecisionRecord(
            NOW - 30, "exhausted", (7,), ("g-1", "g-2"), "gpu", "CAPACITY", "none", details={"rejected": rejected}
        )
    ]
    state = State(backoffs={7: Backoff(NOW + 120, 2, "CAPACITY", "none left anywhere")})
    answer = explain_job(7, PENDING, state, site(), records, NOW)
    backoff = next(point for point in answer.now if point.about == "backoff")
    assert "none left anywhere" in backoff.text and "2027-01-15T08:02:00Z" in backoff.text
    assert [(point.text, point.usd) for point in answer.before if point.about == "offering"] == [
        (f"{OFFERINGS[0].key}: none left", 10.0)
    ]
    assert answer.do == (ADVICE["CAPACITY"],)


@pytest.mark.parametrize("job", [None, SlurmJob(7, "NODE_FAIL", partition="gpu", account="lab")])
def test_a_job_that_ended_with_its_nodes_is_to_be_submitted_again(job: SlurmJob | None) -> None:
    records = [
        DecisionRecord(NOW - 30, event, (7,), ("g-1",), "gpu", "CAPACITY", "none left")
        for event in ("down", "job-ends")
    ]
    state = State(backoffs={7: Backoff(NOW + 60, 1, "CAPACITY", "none left")})
    answer = explain_job(7, job, state, site(), records, NOW)
    assert answer.do == (ENDED_ADVICE,)
    assert "backoff" not in {point.about for point in answer.now}
    assert ("job-ends", "CAPACITY") in {(point.about, point.code) for point in answer.before}


def test_the_cause_of_an_ended_job_is_to_be_corrected_first() -> None:
    records = [DecisionRecord(NOW - 30, "job-ends", (7,), ("g-1",), "gpu", "DRAINED", "a new image")]
    answer = explain_job(7, None, State(), site(), records, NOW)
    assert answer.do == (ADVICE["DRAINED"].replace("POOL", "gpu"), ENDED_ADVICE)


def test_a_batch_job_that_slurm_requeued_after_all_is_tried_again() -> None:
    """Slurm 25.05 requeues a job without --requeue while its nodes boot (requeue_on_resume_failure)."""
    records = [DecisionRecord(NOW - 30, "job-ends", (7,), ("g-1",), "gpu", "CAPACITY", "none left")]
    state = State(backoffs={7: Backoff(NOW + 60, 1, "CAPACITY", "none left")})
    assert explain_job(7, PENDING, state, site(), records, NOW).do == (ADVICE["CAPACITY"],)


def test_the_explanation_of_a_running_job_has_its_launch_and_hold_and_no_advice() -> None:
    attempt = Attempt(
        "t", "g", "gpu", OFFERINGS[0].key, ("g-1",), (7,), "lab", True, NOW, NOW, 40.0, 10.0, ended=NOW,
        instances={"g-1": "i-1"},
    )  # fmt: skip
    state = State(attempts={"t": attempt}, holds={"i-1": BudgetHold("lab", "gpu", 10.0, NOW, NOW + 4 * 3600)})
    old = [DecisionRecord(NOW - 90, "exhausted", (7,), ("g-1",), "gpu", "CAPACITY", "none")]
    answer = explain_job(7, SlurmJob(7, "RUNNING", ("g-1",), "gpu", "lab"), state, site(), old, NOW)
    assert {point.about: point.usd for point in answer.now} == {
        "job": None,
        "policy": None,
        "launch": None,
        "hold": 40.0,
    }
    assert answer.do == ()


def test_the_explanation_of_a_launch_that_ec2_ended_has_its_reason() -> None:
    ends = {"g-1": "Client.InternalError: Client error on launch"}
    attempt = Attempt(
        "t", "g", "gpu", OFFERINGS[0].key, ("g-1",), (7,), "lab", True, NOW, NOW, 40.0, 10.0, ended=NOW, ends=ends
    )  # fmt: skip
    (text,) = (
        point.text
        for point in explain_job(7, PENDING, State(attempts={"t": attempt}), site(), (), NOW).now
        if point.about == "launch"
    )
    assert text == f"AWS gave 1 nodes of gpu at {OFFERINGS[0].key}; EC2 ended that of g-1: {ends['g-1']}"


def test_the_explanation_of_a_job_waiting_on_prem_says_when_it_may_burst() -> None:
    policy = site(promotions=(PromotionPolicy("onprem", ("gpu",), 600.0),))
    job = SlurmJob(7, "PENDING", partition="onprem", account="lab", eligible=NOW, expected_start=NOW + 60)
    (text,) = (point.text for point in explain_job(7, job, State(), policy, (), NOW).now if point.about == "promotion")
    assert text == "may use gpu once it would wait more than 600 s; it does not, as far as Slurm can tell"


def test_an_unknown_job_is_reported_as_unknown() -> None:
    assert not explain_job(7, None, State(), site(), (), NOW).known
