"""End of `make test` by a signal: it ends every process that it has started."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.runner import processes

ROOT = Path(__file__).resolve().parents[3]

STARTS_CHILDREN = """
import os, subprocess, sys
from pathlib import Path
def test_hangs():
    sleep = [sys.executable, "-c", "import time; time.sleep(1000)"]
    own = subprocess.Popen(sleep)
    apart = subprocess.Popen(sleep, start_new_session=True)
    Path("pids.new").write_text(f"{os.getpid()} {own.pid} {apart.pid}")
    os.rename("pids.new", "pids")
    own.wait()
"""

RUNNER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests import run
from tests.runner import processes
from tests.runner.tiers import Tier
run.ROOT, run.TIERS = Path({folder!r}), (Tier("mine", 5, "made up"),)
processes.TEARDOWN_SECONDS = 20
processes.stop_on_signals()
try:
    status = run.main([])
finally:
    processes.end_descendants()
sys.exit(status)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_ended_run_ends_its_children(tier, tmp_path: Path, number: signal.Signals) -> None:
    tier(STARTS_CHILDREN)
    program = RUNNER.format(root=str(ROOT), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    file = tmp_path / "pids"
    assert until(file.exists), "the test has started its children"
    pids = [int(pid) for pid in file.read_text().split()]
    process.send_signal(number)
    printed, _ = process.communicate()
    assert process.returncode == 128 + number, printed
    assert f"ended by signal {int(number)}" in printed
    assert until(lambda: not any(is_running(pid) for pid in pids)), [pid for pid in pids if is_running(pid)]


def test_pytest_is_interrupted_when_the_runner_is_killed(tier, tmp_path: Path) -> None:
    tier(STARTS_CHILDREN)
    program = RUNNER.format(root=str(ROOT), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, cwd=tmp_path)
    file = tmp_path / "pids"
    assert until(file.exists)
    pytest_pid, child, apart = (int(pid) for pid in file.read_text().split())
    process.kill()
    process.wait()
    try:
        assert until(lambda: not is_running(pytest_pid))
    finally:
        for pid in (child, apart):
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)


LEAVES_AN_ORPHAN = """
import os, subprocess, sys, time
from pathlib import Path
def test_orphan_is_gone():
    shell = subprocess.run(["sh", "-c", "sleep 0.1 & echo $!"], stdout=subprocess.PIPE, text=True)
    orphan = Path("/proc") / shell.stdout.strip()
    deadline = time.monotonic() + 120
    while orphan.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not orphan.exists(), (orphan / "stat").read_text()
"""


def test_a_process_whose_parent_has_ended_does_not_stay_as_a_zombie(tier, tmp_path: Path) -> None:
    tier(LEAVES_AN_ORPHAN)
    program = RUNNER.format(root=str(ROOT), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout


def test_output_of_a_process_that_outlives_its_parent_is_not_an_error(tmp_path: Path, monkeypatch) -> None:
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    go_on, ended = tmp_path / "go-on", tmp_path / "ended"
    outlives = f"while ! [ -e {go_on} ]; do sleep 0.05; done; echo late; touch {ended}"
    progress, log = tmp_path / "rows", tmp_path / "log"
    progress.touch()
    before = threading.active_count()
    with log.open("wb") as file:
        status = processes.run(
            ["sh", "-c", f"echo early; ({outlives}) & exit 3"],
            folder=tmp_path,
            variables={},
            progress=progress,
            idle_seconds=120,
            log=file,
            echo=False,
        )
    go_on.touch()
    assert status == 3
    assert until(ended.exists) and until(lambda: threading.active_count() == before)
    assert raised == [] and log.read_text() == "early\nlate\n"


def test_processes_that_end_while_they_are_listed_are_left_out() -> None:
    # The window is short: Path.glob, which was used before, failed in one of some ten thousand listings.
    forks = subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"])
    try:
        for _ in range(300):
            assert os.getpid() in {pid for pid, _, _ in processes._processes()}
    finally:
        forks.kill()
        forks.wait()


def until(holds) -> bool:
    """Wait for a state, up to two minutes."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


def is_running(pid: int) -> bool:
    """Return true for a process that has not ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
