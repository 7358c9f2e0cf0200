"""Waits of the demonstration and of the lab's tests."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.demo import cluster
from sandbox.demo.cluster import NO_PROGRESS_SECONDS, ClusterError, wait_for

ROOT = Path(__file__).resolve().parents[3]


class Clock:
    """A clock that only `sleep` moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(cluster, "time", clock)
    return clock


def test_a_wait_returns_the_accepted_value(clock: Clock) -> None:
    states = iter(["PENDING", "CONFIGURING", "RUNNING"])
    assert wait_for("the job to run", lambda: next(states), lambda state: state == "RUNNING") == "RUNNING"
    assert clock.now == 1.0


def test_a_failed_wait_shows_the_last_state_and_the_details(clock: Clock) -> None:
    with pytest.raises(ClusterError) as failure:
        wait_for("job 5 to run", lambda: "PENDING", lambda state: state == "RUNNING", details=lambda: "no node is up")
    assert str(failure.value) == "job 5 to run: no progress in 300 s; last state: 'PENDING'\nno node is up"
    assert clock.now == pytest.approx(NO_PROGRESS_SECONDS, abs=1)


def test_progress_restarts_the_limit(clock: Clock) -> None:
    assert wait_for("ten epochs", lambda: int(clock.now // 200), lambda epochs: epochs == 10) == 10


def test_an_error_of_a_probe_is_a_state(clock: Clock) -> None:
    def probe() -> Iterator[str]:
        raise ClusterError("slurmctld does not answer")

    with pytest.raises(ClusterError, match="last state: error: slurmctld does not answer"):
        wait_for("the controller", probe)


def test_an_error_of_the_details_does_not_hide_the_state(clock: Clock) -> None:
    def details() -> str:
        raise OSError("no such host")

    with pytest.raises(ClusterError, match=r"last state: False\nno details: no such host"):
        wait_for("the controller", lambda: False, details=details)


def test_no_wait_of_the_lab_has_a_short_limit() -> None:
    """A busy machine is slow: a limit of less than five minutes fails without a fault."""
    paths = [*(ROOT / "tests" / "e2e").rglob("*.py"), *(ROOT / "tests" / "roles").glob("*.py")]
    paths += (ROOT / "sandbox" / "demo").glob("*.py")
    limits = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in paths
        for match in re.finditer(r"wait_for\([^\n]*seconds=([\d.]+)", path.read_text())
        if float(match[1]) < NO_PROGRESS_SECONDS
    }
    loops = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in paths
        for match in re.finditer(r"time\.monotonic\(\) (\+|<|>) .*", path.read_text())
        if path.name not in ("cluster.py", "test_job_program.py")
    }
    assert limits | loops == set(), "use sandbox.demo.cluster.wait_for with its own limit"
