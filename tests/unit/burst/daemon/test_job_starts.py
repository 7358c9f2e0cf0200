"""Server of PrologSlurmctld with the real program: its answers, restarts of the daemon, and who may ask."""
# ruff: noqa: F811 - fixtures are imported

import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.daemon import job_starts
from landbridge.burst.daemon.job_starts import seconds_until_next_query
from landbridge.burst.model import State
from tests.unit.burst import launches
from tests.unit.burst.daemon.job_starts_site import BOOTS, GIVEN_BACK, LOST, UP, Site, end_of, site  # noqa: F401


@pytest.mark.parametrize("end", [UP, LOST, GIVEN_BACK])
def test_programs_end_when_their_nodes_are_up_or_one_is_lost(site: Site, end: frozenset[str]) -> None:
    site.states = {"p5-1": UP, "p5-2": BOOTS, "p5-3": BOOTS}
    first, other = site.start("p5-[1-2]"), site.start("p5-3")
    site.until_asked("p5-1", "p5-2", "p5-3")  # one query for both
    assert first.poll() is None and other.poll() is None
    site.states["p5-2"] = end
    assert end_of(first) == (0, "")
    assert other.poll() is None
    site.states["p5-3"] = UP
    assert end_of(other) == (0, "")


def test_a_waiting_program_is_a_shell(site: Site) -> None:
    site.states = {"p5-1": BOOTS}
    program = site.start("p5-1")
    site.until_asked("p5-1")
    command = Path(f"/proc/{program.pid}/cmdline").read_text().split("\0")
    assert (command[0], command[3]) == ("sh", "landbridge-prolog-wait")
    # Of the lock and the files of Python nothing is left open.
    assert sorted(os.listdir(f"/proc/{program.pid}/fd")) == ["0", "1", "2"]


def test_a_job_without_a_node_in_aws_asks_nothing_of_slurm(site: Site) -> None:
    assert end_of(site.start("dgx[01-02]", "patients")) == (0, "")
    assert site.asked == []


def test_a_restricted_job_waits_until_its_nodes_are_given_up(site: Site) -> None:
    site.states = {"p5-1": UP, "p5-2": UP}
    program = site.start(account="patients")
    assert site.woken.wait(300), "the daemon is woken at once"
    site.until_asked("p5-1", "p5-2")
    assert program.poll() is None, "the job does not start"
    site.states["p5-2"] = LOST
    code, errors = end_of(program)
    assert code == 0 and "may not be in AWS" in errors


def test_a_restricted_job_is_requeued_if_its_nodes_are_not_given_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_starts, "REFUSED_SECONDS", 0.5)
    site.states = {"p5-1": UP, "p5-2": UP}
    code, errors = end_of(site.start(account="patients"))
    assert code == 1 and "data of account patients" in errors


def test_a_daemon_that_starts_again_gets_the_question_again(site: Site) -> None:
    site.states = {"p5-1": BOOTS}
    program = site.start("p5-1")
    site.until_asked("p5-1")
    site.server.close()
    site.listen()
    site.until_asked("p5-1")
    assert program.poll() is None
    site.states["p5-1"] = UP
    assert end_of(program) == (0, "")


def test_changed_settings_apply_to_waiting_programs(site: Site, burst: dict[str, Any]) -> None:
    site.states = {"p5-1": BOOTS}
    program = site.start("p5-1")
    site.until_asked("p5-1")
    burst["accounts"]["vision"]["aws"] = False
    site.configure(burst)
    assert site.woken.wait(300)
    site.states["p5-1"] = LOST
    assert "data of account vision" in end_of(program)[1]


def test_without_the_daemon_only_a_restricted_job_waits_for_it(site: Site) -> None:
    site.states = {"p5-1": BOOTS}
    program, restricted = site.start("p5-1"), site.start("p5-1", "patients")
    site.until(lambda: len([p for p in site.server._programs.values() if p.start]) == 2, "not asked")
    site.server.close()
    assert end_of(program)[0] == 0
    assert restricted.poll() is None, "it waits for a daemon that starts again"
    site.states = {"p5-1": LOST}
    site.listen()
    code, errors = end_of(restricted)
    assert code == 0 and "data of account patients" in errors


def test_above_the_limit_slurm_waits_itself_but_a_restricted_job_stays(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_starts, "MAX_WAITING", 1)
    site.states = {"p5-1": BOOTS, "p5-2": BOOTS}
    first = site.start("p5-1")
    site.until_asked("p5-1")
    assert end_of(site.start("p5-2")) == (0, "")
    restricted = site.start("p5-2", "patients")
    site.until_asked("p5-1", "p5-2")
    assert first.poll() is None and restricted.poll() is None


def test_a_region_is_read_from_a_pass_that_began_when_the_nodes_were_up(site: Site, burst: dict[str, Any]) -> None:
    burst["pools"]["p5"]["offerings"][1]["region"] = "us-east-2"
    burst["accounts"]["other"] = {"data_class": "internal-2", "aws": True}
    site.configure(burst)
    home, away = (entry["key"] for entry in burst["pools"]["p5"]["offerings"][:2])

    def state(offering: str) -> State:
        return State(attempts={"lb-1": launches.attempt("p5-1", offering=offering, ended=1.0, instances={"p5-1": "i"})})

    site.states = {"p5-1": BOOTS}
    program = site.start("p5-1", "other")
    site.until_asked("p5-1")
    site.server.seen(state(home), None, time.monotonic())  # of an earlier instance
    site.states["p5-1"] = UP
    assert site.woken.wait(300), "a pass is needed"
    site.until_asked("p5-1")
    assert program.poll() is None
    site.server.seen(state(away), None, time.monotonic())
    site.until_asked("p5-1")
    assert program.poll() is None, "it may not start in that region"
    site.states["p5-1"] = LOST
    code, errors = end_of(program)
    assert code == 0 and "may not be in us-east-2" in errors
    site.states["p5-1"] = UP
    program = site.start("p5-1", "other")
    site.until_asked("p5-1")
    site.server.seen(state(home), None, time.monotonic())
    assert end_of(program) == (0, "")


def test_a_slurm_that_does_not_answer_is_reported_once_and_queried_again(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.states = {"p5-1": None}
    program = site.start("p5-1")
    site.until_asked("p5-1")
    site.states["p5-1"] = UP
    assert end_of(program) == (0, "")
    assert capsys.readouterr().err.count("sinfo: no answer") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_only_slurms_account_and_root_may_ask(site: Site) -> None:
    path = site.config.prolog_socket
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o666)  # as after an operator's mistake
    site.folder.chmod(0o755)
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect('burst-prolog.sock');"
        "s.sendall(b'7\\0dgx01\\0vision\\0\\0'); print(s.recv(99))"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code],
        cwd=site.folder,
        user=65534,
        group=65534,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "b'0" not in done.stdout and (done.stdout == "b''\n" or "Error" in done.stderr), done
    with socket.socket(socket.AF_UNIX) as allowed:
        allowed.connect(str(path))
        allowed.sendall(b"7\0dgx01\0vision\0\0")
        assert allowed.recv(99) == b"0 \n"


def test_the_shared_query_is_made_at_most_once_a_second_and_less_often_if_it_is_slow() -> None:
    assert [seconds_until_next_query(waited) for waited in (0, 20, 4000)] == [1.0, 1.5, 2.0]
    assert seconds_until_next_query(0, took=3.0) == 30.0
