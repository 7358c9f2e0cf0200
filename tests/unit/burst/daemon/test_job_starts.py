"""Server of PrologSlurmctld with the real program: its answers, restarts of the daemon, and who may ask."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config.config import BurstConfig, parse
from landbridge.burst.daemon import job_starts
from landbridge.burst.daemon.job_starts import JobStarts, seconds_until_next_query
from landbridge.burst.model import Observation, ObservationKind, State
from landbridge.burst.slurm.slurm import SlurmError
from tests.unit.burst import launches

ROOT = Path(__file__).parents[4]
UP, BOOTS = frozenset({"ALLOCATED", "CLOUD"}), frozenset({"ALLOCATED", "CLOUD", "POWERING_UP"})
LOST = frozenset({"DOWN", "CLOUD", "POWERING_DOWN"})
GIVEN_BACK = frozenset({"IDLE", "CLOUD", "POWERED_DOWN"})


class Site:
    """Daemon's server, the states of nodes in Slurm, and the programs that slurmctld has started."""

    def __init__(self, folder: Path, raw: dict[str, Any]) -> None:
        self.folder, self.states = folder, dict[str, frozenset[str] | None]()
        self.asked: list[tuple[str, ...]] = []
        self.woken = threading.Event()
        self.programs: list[subprocess.Popen[str]] = []
        self.server = JobStarts(self.query, self.woken.set)
        self.configure(raw)

    def configure(self, raw: dict[str, Any]) -> None:
        settings = {**raw, "state_dir": str(self.folder), "socket": str(self.folder / "burst.sock")}
        (self.folder / "burst.json").write_text(json.dumps(settings))
        self.config: BurstConfig = parse(settings)
        self.server.use(self.config.policy)
        self.server.saved(State(), time.monotonic())  # by the pass that follows

    def query(self, names: Sequence[str]) -> Mapping[str, frozenset[str]]:
        self.asked.append(tuple(names))
        states = {name: self.states[name] for name in names if name in self.states}
        if None in states.values():
            raise SlurmError("sinfo: no answer")
        return {name: state for name, state in states.items() if state is not None}

    def listen(self) -> None:
        self.server.listen(self.config.prolog_socket)

    def start(self, nodes: str = "p5-[1-2]", account: str = "vision") -> "subprocess.Popen[str]":
        environment = {
            "LANDBRIDGE_BURST_CONFIG": str(self.folder / "burst.json"),
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_ACCOUNT": account,
            "SLURM_JOB_NODELIST": nodes,
        }
        command = [sys.executable, "-m", "landbridge.burst.hooks.prolog_wait"]
        self.programs.append(
            subprocess.Popen(
                command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
        return self.programs[-1]

    def until(self, condition: Callable[[], bool], text: str) -> None:
        deadline = time.monotonic() + 300
        while not condition():
            assert time.monotonic() < deadline, text
            time.sleep(0.02)

    def until_asked(self, *names: str) -> None:
        """Wait for a query of these nodes that begins from now on, and for its answers."""
        count = len(self.asked)
        self.until(lambda: names in self.asked[count:-1], f"not asked for {names}: {self.asked}")


@pytest.fixture
def site(tmp_path: Path, burst: dict[str, Any]) -> Iterator[Site]:
    opened = Site(tmp_path, burst)
    opened.listen()
    yield opened
    for program in opened.programs:
        program.kill()
        program.communicate()
    opened.server.close()


def end_of(program: "subprocess.Popen[str]") -> tuple[int, str]:
    _, errors = program.communicate(timeout=300)
    return program.returncode, errors


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
        timeout=300,
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
