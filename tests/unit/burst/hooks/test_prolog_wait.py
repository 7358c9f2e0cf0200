"""PrologSlurmctld: its verdict, its query interval, its end, and its refusal of jobs that may not be in AWS."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from landbridge.burst.config.config import load
from landbridge.burst.hooks import prolog_wait
from landbridge.burst.hooks.hold_apart import locations_apart
from landbridge.burst.hooks.prolog_wait import reject_nodes_if_restricted, seconds_until_next_check, verdict
from landbridge.burst.journal.store import Store
from landbridge.burst.model import Attempt, Observation, ObservationKind, State

#: Nodes p5-1 to p5-16 are in AWS; the data of account patients may not be there.
SAMPLE = Path(__file__).parents[1] / "data" / "burst.json"

SINFO = """#!/bin/sh
echo "$@" >> {folder}/asked
cat {folder}/answer
"""


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], "wait"),
        ([{"ALLOCATED", "CLOUD"}], "up"),
        ([{"ALLOCATED", "CLOUD"}, {"ALLOCATED", "CLOUD", "POWERING_UP"}], "wait"),
        ([{"ALLOCATED", "NOT_RESPONDING"}], "wait"),
        ([{"ALLOCATED", "CLOUD", "DRAIN", "POWER_DOWN"}], "up"),
        ([{"ALLOCATED", "POWERING_UP"}, {"DOWN", "CLOUD", "POWERING_DOWN"}], "down"),
    ],
)
def test_the_verdict_follows_from_the_states_of_the_nodes(states: list[set[str]], expected: str) -> None:
    assert verdict(frozenset(state) for state in states) == expected


def test_the_query_interval_grows_with_the_waiting_time() -> None:
    assert seconds_until_next_check(0) == 0.25
    assert seconds_until_next_check(1000) == 2.0
    assert all(seconds_until_next_check(second) <= seconds_until_next_check(second + 1) for second in range(100))


def answer(folder: Path, *states: list[str]) -> None:
    lines = (f"p5-{number} {'+'.join(state).lower()}\n" for number, state in enumerate(states, 1))
    (folder / "new").write_text("".join(lines))
    (folder / "new").replace(folder / "answer")


def wait_for_queries(folder: Path, count: int) -> None:
    """Wait until the program has queried Slurm this often."""
    deadline = time.monotonic() + 300
    while not (folder / "asked").exists() or len((folder / "asked").read_text().splitlines()) < count:
        assert time.monotonic() < deadline, "Slurm was not queried"
        time.sleep(0.05)


def start(
    folder: Path, nodes: str | None = "p5-[1-2]", account: str = "vision", config: Path = SAMPLE
) -> "subprocess.Popen[str]":
    (folder / "sinfo").write_text(SINFO.format(folder=folder))
    (folder / "sinfo").chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "LANDBRIDGE_BURST_CONFIG": str(config),
        "SLURM_JOB_ACCOUNT": account,
        "SLURM_JOB_ID": "7",
        **({"SLURM_JOB_NODELIST": nodes} if nodes else {}),
    }
    command = [sys.executable, "-m", "landbridge.burst.hooks.prolog_wait"]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("end", [["ALLOCATED", "CLOUD"], ["DOWN", "CLOUD", "POWERING_DOWN"]])
def test_the_program_ends_when_the_nodes_are_up_or_one_is_lost(tmp_path: Path, end: list[str]) -> None:
    answer(tmp_path, ["ALLOCATED", "CLOUD"], ["ALLOCATED", "CLOUD", "POWERING_UP"])
    process = start(tmp_path)
    wait_for_queries(tmp_path, 2)
    assert process.poll() is None
    answer(tmp_path, ["ALLOCATED", "CLOUD"], end)
    assert process.wait(timeout=300) == 0
    assert set((tmp_path / "asked").read_text().splitlines()) == {
        "--noheader --all --nodes=p5-[1-2] --Format=NodeList:0 ,StateComplete:0"
    }
    assert process.stderr is not None and process.stderr.read() == ""
    process.stderr.close()


def test_a_slurm_that_does_not_answer_is_reported_once_and_queried_again(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("p5-1")
    process = start(tmp_path)
    wait_for_queries(tmp_path, 3)
    answer(tmp_path, ["IDLE"], ["IDLE"])
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0 and errors.count("a node list and a state are expected") == 1


def test_the_program_does_not_wait_without_nodes(tmp_path: Path) -> None:
    process = start(tmp_path, None)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0 and "SLURM_JOB_NODELIST" in errors


@pytest.mark.parametrize(
    ("nodes", "account", "wckey", "words"),
    [
        ("p5-[1-2]", "vision", "", None),
        ("p5-[1-2]", "patients", "", "data of account patients"),
        ("p5-1", "vision", "patients", "'patients'"),
        ("p5-1", "", "", "not one of those"),
        ("dgx[01-04]", "patients", "", None),
        ("dgx01,p5-3", "patients", "", "data of account patients"),
        ("not [a host list", "patients", "", None),
    ],
)
def test_a_job_is_rejected_on_nodes_in_aws_that_its_data_may_not_use(
    nodes: str, account: str, wckey: str, words: str | None
) -> None:
    message = reject_nodes_if_restricted(load(SAMPLE), nodes, account, wckey)
    assert message is None if words is None else message is not None and words in message


def test_a_restricted_job_on_running_nodes_waits_until_they_are_given_up(tmp_path: Path) -> None:
    answer(tmp_path, ["ALLOCATED", "CLOUD"], ["ALLOCATED", "CLOUD"])
    config, path = tmp_path / "burst.json", tmp_path / "socket"
    config.write_text(json.dumps({**json.loads(SAMPLE.read_text()), "socket": str(path)}))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.bind(str(path))
        daemon.settimeout(300)
        process = start(tmp_path, account="patients", config=config)
        assert daemon.recv(8), "the daemon is woken at once"
    wait_for_queries(tmp_path, 2)
    assert process.poll() is None, "the job does not start"
    answer(tmp_path, ["ALLOCATED", "CLOUD"], ["DOWN", "CLOUD", "POWERING_DOWN"])
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0 and "may not be in AWS" in errors


def test_a_restricted_job_is_requeued_if_its_nodes_are_not_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(tmp_path, ["ALLOCATED", "CLOUD"], ["ALLOCATED", "CLOUD"])
    start(tmp_path, None).communicate(timeout=300)
    for name, value in {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "LANDBRIDGE_BURST_CONFIG": str(SAMPLE),
        "SLURM_JOB_ACCOUNT": "patients",
        "SLURM_JOB_NODELIST": "p5-[1-2]",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(prolog_wait, "REFUSED_SECONDS", 1.0)
    assert prolog_wait.main() == 1


@dataclass(frozen=True)
class Held:
    """A program that holds job 7 on two running nodes apart, and the journal that it reads."""

    folder: Path
    store: Store
    process: "subprocess.Popen[str]"

    def end(self) -> str:
        _, errors = self.process.communicate(timeout=300)
        assert self.process.returncode == 0
        return errors


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    answer(tmp_path, ["ALLOCATED", "CLOUD"], ["ALLOCATED", "CLOUD"])
    config, path = tmp_path / "burst.json", tmp_path / "socket"
    config.write_text(json.dumps({**json.loads(SAMPLE.read_text()), "socket": str(path), "state_dir": str(tmp_path)}))
    with contextlib.closing(Store(load(config).database)) as store:
        store.save(State(), State(attempts=launches_in("use1-az4", "use1-az6")))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
            daemon.bind(str(path))
            daemon.settimeout(300)
            process = start(tmp_path, config=config)
            assert daemon.recv(8), "the daemon is woken at once"
        wait_for_queries(tmp_path, 3)
        assert process.poll() is None, "the job does not start"
        yield Held(tmp_path, store, process)


def launches_in(*zones: str) -> dict[str, Attempt]:
    """Return a launch of one node of pool p5 in each zone."""
    offerings = {offering.zone: offering.key for offering in load(SAMPLE).policy.pools["p5"].offerings}
    return {
        f"t-{number}": Attempt(
            *(f"t-{number}", "batch/p5/", "p5", offerings[zone], (f"p5-{number}",), (), "", False, 0.0, 0.0, 0.0, 0.0),
            ended=0.0,
            instances={f"p5-{number}": f"i-{number}"},
        )
        for number, zone in enumerate(zones, 1)
    }


def test_a_job_on_nodes_apart_waits_until_the_daemon_has_moved_it(held: Held) -> None:
    answer(held.folder, ["ALLOCATED", "CLOUD"], ["DOWN", "CLOUD", "POWERING_DOWN"])
    assert "p5.48xlarge/use1-az4 (1), p5.48xlarge/use1-az6 (1)" in held.end()


def test_a_job_on_nodes_apart_starts_when_the_daemon_does_not_move_it(held: Held) -> None:
    before = held.store.load()
    held.store.save(before, replace(before, first_seen={Observation(ObservationKind.JOB_APART, "7"): 1.0}))
    held.end()


@pytest.mark.parametrize(
    ("zones", "nodes", "expected"),
    [
        (("use1-az4", "use1-az6"), "p5-[1-2]", True),
        (("use1-az4", "use1-az4"), "p5-[1-2]", False),
        (("use1-az4", "use1-az6"), "p5-1", False),
        (("use1-az4", "use1-az6"), "p5-1,dgx01", False),
        (("use1-az4",), "p5-[1-2]", False),
    ],
    ids=["two zones", "one zone", "one node", "with an on-prem node", "a node without a launch"],
)
def test_the_journal_tells_whether_nodes_are_apart(
    tmp_path: Path, zones: tuple[str, ...], nodes: str, expected: bool
) -> None:
    config = replace(load(SAMPLE), state_dir=tmp_path)
    with contextlib.closing(Store(config.database)) as store:
        store.save(State(), State(attempts=launches_in(*zones)))
    assert bool(locations_apart(config, nodes)) is expected


def test_a_job_does_not_wait_for_a_journal_that_cannot_be_read(tmp_path: Path) -> None:
    assert locations_apart(replace(load(SAMPLE), state_dir=tmp_path / "none" / "such"), "p5-[1-2]") == ""


def test_a_missing_configuration_blocks_no_job_and_is_reported(tmp_path: Path) -> None:
    answer(tmp_path, ["ALLOCATED", "CLOUD"], ["ALLOCATED", "CLOUD"])
    process = start(tmp_path, account="patients", config=tmp_path / "none.json")
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0 and "none.json" in errors
