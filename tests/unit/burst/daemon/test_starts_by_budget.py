"""Server of PrologSlurmctld with the real program: jobs of an account with a hard budget on nodes that are up."""
# ruff: noqa: F811 - fixtures are imported

import time
from typing import Any

import pytest

from landbridge.burst.daemon import job_starts
from landbridge.burst.model import Backoff, BudgetHold, State
from tests.unit.burst import launches
from tests.unit.burst.daemon.job_starts_site import LOST, UP, Site, end_of, site  # noqa: F401


@pytest.fixture
def capped(site: Site, burst: dict[str, Any]) -> Site:
    """Return the site with a hard budget of account vision, and node p5-1 up."""
    burst["accounts"]["vision"] |= {"monthly_usd": 20000, "hard": True}
    site.configure(burst)
    site.states = {"p5-1": UP}
    return site


def journal(payer: str, *claims: tuple[int, str, float | None], **fields: Any) -> State:
    attempt = launches.attempt("p5-1", account=payer, ended=1.0, instances={"p5-1": "i-1"})
    hold = BudgetHold(payer, "p5", 1.0, 1.0, 9.0, claims=claims)
    return State(attempts={"lb-1": attempt}, holds={"i-1": hold}, **fields)


def test_a_job_starts_on_another_accounts_node_when_a_pass_shows_that_its_account_pays(capped: Site) -> None:
    program = capped.start("p5-1")
    assert capped.woken.wait(300), "a pass is needed"
    capped.until_asked("p5-1")
    assert program.poll() is None, "no pass has seen the job"
    capped.server.saved(journal("lab", (7, "vision", None)), time.monotonic())
    assert end_of(program) == (0, "")


def test_a_job_that_its_account_cannot_pay_does_not_start_and_the_node_stays(
    capped: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_starts, "REFUSED_SECONDS", 0.5)
    program = capped.start("p5-1")
    assert capped.woken.wait(300)
    text = "account vision has 20000.00 of 20000.00 USD committed in 2027-01; 9.00 more is over"
    refused = journal("lab", (8, "lab", None), backoffs={7: Backoff(99.0, 1, "BUDGET", text)})
    capped.server.saved(refused, time.monotonic())
    code, errors = end_of(program)
    assert code == 1 and text in errors


def test_without_a_pass_a_job_with_a_hard_budget_does_not_start(capped: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_starts, "REFUSED_SECONDS", 0.5)
    code, errors = end_of(capped.start("p5-1"))
    assert code == 1 and "no pass has shown whether account vision pays" in errors


def test_a_job_starts_on_a_node_that_its_own_account_has_launched(capped: Site) -> None:
    program = capped.start("p5-1")
    assert capped.woken.wait(300)
    capped.server.saved(journal("vision"), time.monotonic())
    assert end_of(program) == (0, "")


def test_a_job_that_was_requeued_meanwhile_does_not_wait(capped: Site) -> None:
    program = capped.start("p5-1")
    assert capped.woken.wait(300)
    capped.states["p5-1"] = LOST
    assert end_of(program)[0] == 0
