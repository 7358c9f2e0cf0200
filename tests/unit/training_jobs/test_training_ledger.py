"""Training jobs in the ledger: held before the call, refused above a hard cap, charged once for the billed seconds."""

from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.journal.store import Store
from landbridge.burst.model import AccountPolicy, BurstPolicy, State, TrainingJob
from landbridge.burst.model.training_job import TRAINING
from landbridge.burst.operator.status import account_spending
from landbridge.burst.reconcile.budget import Ledger
from landbridge.burst.reconcile.training_jobs import (
    ADDED_SECONDS,
    KEPT_SECONDS,
    TrainingRefused,
    TrainingStatus,
    admitted,
    committed_by_account,
    forgotten,
    may_add,
    observed,
    soft_cap,
    with_job,
)
from landbridge.timestamps import month_start

NOV = month_start("2026-11")
NOW = NOV + 29 * 86_400 + 12 * 3600  # 30 November, noon
JOB = TrainingJob("test-a-1", "vision", "alice", "internal", "ml.g5.xlarge", 2, 1.5, 36_000, NOW)


def policy(monthly: float | None = 100.0, *, hard: bool = True) -> BurstPolicy:
    accounts = {
        "vision": AccountPolicy("vision", "internal", True, monthly, hard),
        "patients": AccountPolicy("patients", "restricted", False),
    }
    return BurstPolicy("test", "us-east-1", {}, accounts)


def test_the_cost_of_the_time_limit_is_held_and_a_hard_cap_refuses_more() -> None:
    state = admitted(State(), policy(), JOB, NOW)
    assert account_spending(state, NOW) == committed_by_account(state, NOW) == {"vision": (0.0, 30.0)}
    assert JOB.held_usd == 30.0 and Ledger.of(state, policy(), NOW).accounts["vision"] == 30.0
    for number in (2, 3):
        state = admitted(state, policy(), replace(JOB, name=f"test-a-{number}"), NOW)
    with pytest.raises(TrainingRefused, match=r"account vision has 90\.00 of 100\.00 USD committed") as refused:
        admitted(state, policy(), replace(JOB, name="test-a-4"), NOW)
    assert refused.value.rule == "training-budget"
    assert admitted(state, policy(), JOB, NOW) is state
    assert "30.00 more is over" in str(soft_cap(state, policy(hard=False), JOB, NOW))
    assert Ledger.of(state, policy(), NOW).refusal("vision", "p5", 20.0) is not None


@pytest.mark.parametrize("account", ["patients", "unknown"])
def test_an_account_that_may_not_use_aws_is_refused(account: str) -> None:
    with pytest.raises(TrainingRefused) as refused:
        admitted(State(), policy(), replace(JOB, account=account), NOW)
    assert refused.value.rule == "training-class"


def test_the_billed_seconds_are_charged_once_to_the_days_and_months_of_the_training() -> None:
    state = with_job(State(), JOB)
    end = NOW + 24 * 3600
    status = TrainingStatus(JOB.name, "Completed", 3600, started=NOW, ended=end)
    after = observed(state, status, end + 60)
    assert after.spent == {("2026-11", "vision", TRAINING): 1.5, ("2026-12", "vision", TRAINING): 1.5}
    assert [(charge.key.day, charge.usd, charge.node_seconds) for charge in after.charges] == [
        ("2026-11-30", 1.5, 3600.0),
        ("2026-12-01", 1.5, 3600.0),
    ]
    assert after.training_jobs[JOB.name].held_usd == 0 and observed(after, status, end + 120) is after
    assert committed_by_account(after, end) == {"vision": (1.5, 0.0)}


def test_a_job_that_was_never_billed_costs_nothing() -> None:
    after = observed(with_job(State(), JOB), TrainingStatus(JOB.name, "Stopped"), NOW)
    assert after.spent == {} and after.charges == () and after.training_jobs[JOB.name].ended == NOW


def test_a_job_that_runs_stays_held() -> None:
    after = observed(with_job(State(), JOB), TrainingStatus(JOB.name, "Stopping"), NOW)
    assert after.training_jobs[JOB.name].held_usd == 30.0 and after.training_jobs[JOB.name].status == "Stopping"


def test_no_job_is_forgotten_while_aws_may_show_it_as_new() -> None:
    state = with_job(State(), replace(JOB, ended=NOW, status="Completed"))
    assert forgotten(state, NOW + ADDED_SECONDS) is state and may_add(NOW, NOW + ADDED_SECONDS - 1)
    assert forgotten(state, NOW + KEPT_SECONDS).training_jobs == {}
    assert not may_add(NOW, NOW + KEPT_SECONDS)


def test_a_change_of_the_journal_is_on_disk_and_one_that_fails_changes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "burst.db")
    store.update(lambda state: with_job(state, JOB))
    with pytest.raises(TrainingRefused):
        store.update(lambda state: admitted(state, policy(10.0), replace(JOB, name="test-a-2"), NOW))
    other = Store(tmp_path / "burst.db")
    assert other.load().training_jobs == {JOB.name: JOB}
    # The daemon's save of other rows keeps the job.
    before = other.load()
    other.save(before, replace(before, drained={"p5": "x"}))
    assert store.load().training_jobs == {JOB.name: JOB}
