"""The programs that Slurm calls: when they return, the order is on disk; they return soon, also without journal or
daemon."""

import contextlib
import json
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from landbridge.burst.hooks import programs
from landbridge.burst.journal.store import Store

ROOT = Path(__file__).parents[4]
NODES = tuple(f"p5-{number}" for number in range(1, 1001))
JOBS = {
    "jobs": [
        {
            "job_id": job, "nodes_alloc": f"p5-[{20 * job + 1}-{20 * job + 20}]", "nodes_resume": f"p5-[{20 * job + 1}-{20 * job + 20}]",
            "partition": "p5", "oversubscribe": "NO", "features": None, "extra": None, "reservation": None,
        }
        for job in range(50)
    ],
    "all_nodes_resume": "p5-[1-1000]",
}  # fmt: skip


class Host:
    """A controller's files in a directory."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.socket = folder, folder / "burst.sock"
        self.store = Store(folder / "burst.db")
        (folder / "burst.json").write_text(
            json.dumps({"state_dir": str(folder), "socket": str(self.socket), "pools": {}})
        )

    def start(self, kind: str, *words: str, resume: str | None = None) -> "subprocess.Popen[str]":
        """Start a program as slurmctld does: minimal environment, and the interpreter options of the role's programs."""
        environment = {"LANDBRIDGE_BURST_CONFIG": str(self.folder / "burst.json")}
        if resume is not None:
            environment["SLURM_RESUME_FILE"] = resume
        code = f"import sys; sys.path.append({str(ROOT)!r}); from landbridge.burst.hooks.programs import {kind}; sys.exit({kind}())"
        command = [sys.executable, "-IS", "-c", code, *words]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, kind: str, *words: str, resume: str | None = None) -> tuple[int, str]:
        process = self.start(kind, *words, resume=resume)
        _, errors = process.communicate()
        assert "Traceback" not in errors, errors
        return process.returncode, errors


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_an_order_is_on_disk_with_its_nodes_jobs_and_time(host: Host) -> None:
    file = host.folder / "resume.json"
    file.write_text(json.dumps(JOBS))
    assert host.run("resume", "--some-action", "p5-[1-1000]", resume=str(file)) == (0, "")
    file.unlink()
    (order,) = host.store.load().orders
    assert (order.kind, order.nodes) == ("resume", NODES)
    assert {job: len(nodes) for job, nodes in order.jobs.items()} == dict.fromkeys(range(50), 20)
    assert abs(order.at - time.time()) < 60


def test_each_of_the_three_programs_writes_its_kind_of_order(host: Host) -> None:
    for kind in ("resume", "suspend", "resume_fail"):
        assert host.run(kind, "p5-[1-2],g6-7")[0] == 0
    assert [(order.kind, order.nodes) for order in host.store.load().orders] == [
        (kind, ("p5-1", "p5-2", "g6-7")) for kind in ("resume", "suspend", "resume-fail")
    ]


def test_an_order_of_a_thousand_nodes_takes_little_processor_time(host: Host) -> None:
    """Measure processor time including the start of the interpreter: other load of the machine does not count."""
    file = host.folder / "resume.json"
    file.write_text(json.dumps(JOBS))
    host.run("resume", "p5-1")  # creates the journal
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert host.run("resume", "p5-[1-1000]", resume=str(file))[0] == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.1, spent


def test_the_daemon_is_woken_after_the_order_is_written(host: Host) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.bind(str(host.socket))
        daemon.settimeout(20)
        process = host.start("resume", "p5-1")
        assert daemon.recv(10)
        assert [order.nodes for order in host.store.load().orders] == [("p5-1",)]
        assert process.wait() == 0


def test_orders_are_written_while_the_daemon_does_not_read_its_socket(host: Host) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.bind(str(host.socket))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as flood:
            flood.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                for _ in range(100_000):
                    flood.sendto(b"1", str(host.socket))
        assert host.run("resume", "p5-1")[0] == 0
    assert host.run("resume", "p5-2")[0] == 0  # the socket file exists, and no daemon reads it
    assert len(host.store.load().orders) == 2


def test_concurrent_programs_lose_no_order(host: Host) -> None:
    """Start the programs on a host without a journal: one of them creates it."""
    running = [host.start("resume", f"p5-{number}") for number in range(1, 13)]
    assert [process.wait() for process in running] == [0] * 12
    assert sorted(node for order in host.store.load().orders for node in order.nodes) == sorted(NODES[:12])


def test_a_program_fails_with_an_error_if_the_journal_stays_locked(host: Host) -> None:
    host.store.load()
    other = sqlite3.connect(host.store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    code, errors = host.run("resume", "p5-[1-2]")
    other.execute("ROLLBACK")
    assert code == 1 and "locked" in errors and "p5-[1-2]" in errors
    assert host.store.load().orders == ()


@pytest.mark.parametrize("kind", ["resume", "suspend", "resume_fail"])
def test_a_program_without_a_state_directory_reports_it(host: Host, kind: str) -> None:
    (host.folder / "burst.json").write_text(json.dumps({"state_dir": "/proc/nowhere"}))
    code, errors = host.run(kind, "p5-1")
    assert code == 1 and "/proc/nowhere/burst.db" in errors and len(errors.splitlines()) == 1


def test_a_program_without_nodes_reports_it(host: Host) -> None:
    assert host.run("resume") == (2, "landbridge-resume: the node list is missing\n")


def test_an_order_without_its_resume_file_has_the_node_list(host: Host) -> None:
    code, errors = host.run("resume", "p5-[1-2]", resume=str(host.folder / "gone"))
    assert code == 0 and "only the node list is used" in errors
    (order,) = host.store.load().orders
    assert (order.nodes, order.jobs) == (("p5-1", "p5-2"), {})


def test_unreadable_settings_leave_the_default_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("{", "[]", "{}"):
        (tmp_path / "burst.json").write_text(text)
        monkeypatch.setenv("LANDBRIDGE_BURST_CONFIG", str(tmp_path / "burst.json"))
        assert programs._files() == ("/var/lib/landbridge/burst.db", "/run/landbridge/burst.sock")
    monkeypatch.setenv("LANDBRIDGE_BURST_CONFIG", os.devnull)
    assert programs._files()[0] == "/var/lib/landbridge/burst.db"
