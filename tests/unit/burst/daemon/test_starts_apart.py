"""Server of PrologSlurmctld with the real program: jobs whose nodes are in several zones."""
# ruff: noqa: F811 - fixtures are imported

import time
from dataclasses import replace

import pytest

from landbridge.burst.daemon import job_starts
from landbridge.burst.model import Observation, ObservationKind, State
from tests.unit.burst import launches
from tests.unit.burst.daemon.job_starts_site import BOOTS, LOST, UP, Site, end_of, site  # noqa: F401


@pytest.fixture
def apart(site: Site) -> State:
    """Return a journal that shows the nodes of job 7 apart; the nodes are up."""
    journal = launches.in_zones(site.config.policy, "use1-az4", "use1-az6")
    site.states = {"p5-1": UP, "p5-2": UP}
    site.server.saved(journal, time.monotonic())
    return journal


def test_a_job_on_nodes_apart_waits_until_the_daemon_has_moved_it(
    site: Site, apart: State, capsys: pytest.CaptureFixture[str]
) -> None:
    program = site.start()
    assert site.woken.wait(300), "the daemon is woken at once"
    site.until_asked("p5-1", "p5-2")
    site.server.saved(apart, time.monotonic())
    site.until_asked("p5-1", "p5-2")
    assert program.poll() is None, "the job does not start"
    site.states["p5-2"] = LOST
    assert end_of(program) == (0, "")
    text = "job 7 waits: its nodes are in p5.48xlarge/use1-az4 (1), p5.48xlarge/use1-az6 (1)"
    assert capsys.readouterr().err.count(text) == 1


def test_a_job_on_nodes_apart_starts_when_a_pass_that_saw_them_up_leaves_it(site: Site, apart: State) -> None:
    left = replace(apart, first_seen={Observation(ObservationKind.JOB_APART, "7"): 1.0})
    site.states["p5-2"] = BOOTS
    program = site.start()
    site.until_asked("p5-1", "p5-2")
    site.server.saved(left, time.monotonic())  # AWS did not answer then
    site.states["p5-2"] = UP
    assert site.woken.wait(300)
    site.until_asked("p5-1", "p5-2")
    assert program.poll() is None, "a pass that began before may not have seen the nodes up"
    site.server.saved(left, time.monotonic())
    assert end_of(program) == (0, "")


def test_a_job_on_nodes_apart_does_not_wait_for_long(site: Site, apart: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_starts, "APART_SECONDS", 0.5)
    assert end_of(site.start()) == (0, "")
    assert site.woken.is_set()


def test_after_a_start_of_the_daemon_the_first_pass_shows_whether_nodes_are_together(site: Site) -> None:
    site.server.use(site.config.policy)
    site.states = {"p5-1": UP, "p5-2": UP}
    program, alone = site.start(), site.start("p5-1")
    assert end_of(alone) == (0, "")
    site.until_asked("p5-1", "p5-2")
    assert program.poll() is None, "the job does not start"
    site.server.saved(launches.in_zones(site.config.policy, "use1-az4", "use1-az4"), time.monotonic())
    assert end_of(program) == (0, "")
