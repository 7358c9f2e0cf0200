"""`make test`: counts, tests that were not run, and failures."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from tests import run
from tests.runner import lab_lock, order, polite, rare
from tests.runner.tiers import Tier

ROOT = Path(__file__).resolve().parents[3]

CASES = """
import pytest
def test_good(): assert True
@pytest.mark.skip(reason="needs the lab: not root")
def test_away(): assert False
"""


@pytest.fixture
def tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "tests" / "mine").mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    # The results are written by the checkout's own hooks.
    (tmp_path / "conftest.py").write_text(
        f"import sys; sys.path.append({str(ROOT)!r})\n"
        "from tests.conftest import pytest_collectreport, pytest_runtest_logreport\n"
    )
    monkeypatch.setattr(run, "ROOT", tmp_path)

    def with_text(text: str) -> Tier:
        (tmp_path / "tests" / "mine" / "test_mine.py").write_text(text)
        tier = Tier("mine", 1, "made up")
        monkeypatch.setattr(run, "TIERS", (tier,))
        return tier

    return with_text


def test_counts_and_reasons_of_skips(tier) -> None:
    outcome = run.run(tier(CASES), [])
    assert dict(outcome.counts) == {"passed": 1, "skipped": 1} and not outcome.broken
    assert list(outcome.reasons) == ["needs the lab: not root"]


def test_all_well_is_zero_and_says_what_was_not_run(tier, capsys) -> None:
    tier(CASES)
    assert run.main([]) == 0
    output = capsys.readouterr().out
    assert "not run: 1 of mine: needs the lab: not root" in output
    assert output.strip().splitlines()[-1].startswith("1 passed, 0 failed, 1 skipped in ")


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (CASES + "\ndef test_bad(): assert False\n", "1 passed, 1 failed"),
        ("import nothing_of_this_name\n", "0 passed, 1 failed"),
        ("import os\nos._exit(3)\n", "0 passed, 1 failed"),
        ("import pytest\npytestmark = pytest.mark.skip(reason='all')\ndef test_a(): pass\n", "0 passed, 0 failed"),
    ],
)
def test_any_failure_fails_the_whole(tier, capsys, text: str, last: str) -> None:
    tier(text)
    assert run.main([]) == 1
    assert capsys.readouterr().out.strip().splitlines()[-1].startswith(last)


def test_a_tier_without_progress_is_ended_and_says_what_failed_before(tier, capsys, monkeypatch) -> None:
    """Also where this process ignores SIGINT, as in the background of a shell."""
    tier("import time\ndef test_bad(): assert 'this' == 'that'\ndef test_hangs(): time.sleep(1000)\n")
    monkeypatch.setattr(run, "TIERS", (Tier("mine", 0.1, "made up"),))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run.main([]) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    printed = capsys.readouterr().out
    assert "KeyboardInterrupt" in printed, "it was interrupted, not only killed"
    assert "no test ended for 0.1 minutes" in printed
    assert "failed: tests/mine/test_mine.py::test_bad: AssertionError" in printed


def test_a_tier_that_goes_on_is_not_ended(tier, monkeypatch) -> None:
    """Its tests take longer together than one may take alone."""
    tier("import time, pytest\n@pytest.mark.parametrize('n', range(8))\ndef test_waits(n): time.sleep(1)\n")
    monkeypatch.setattr(run, "TIERS", (Tier("mine", 0.1, "made up"),))
    assert run.main([]) == 0


FAILS_ONCE = """
from pathlib import Path
def test_rare():
    mark = Path(__file__).with_name("mark")
    seen = mark.exists()
    mark.touch()
    assert seen, "the first time"
def test_good(): pass
"""


def test_a_test_that_fails_once_is_a_rare_failure(tier, capsys) -> None:
    tier(FAILS_ONCE)
    assert run.main([]) == 0
    printed = capsys.readouterr().out
    assert "rare failures: 1" in printed
    named = (
        "rare failure (passed when repeated alone): tests/mine/test_mine.py::test_rare: AssertionError: the first time"
    )
    assert named in printed
    assert printed.strip().splitlines()[-1].startswith("2 passed, 0 failed, 0 skipped in ")


def test_a_test_that_fails_twice_is_named_with_its_log(tier, capsys) -> None:
    tier(FAILS_ONCE + "def test_bad(): assert 1 == 2\n")
    assert run.main([]) == 1
    end = capsys.readouterr().out.strip().splitlines()[-40:]
    assert end[-1].startswith("2 passed, 1 failed, 0 skipped in ")
    (failed,) = (line for line in end if line.startswith("failed: "))
    assert "tests/mine/test_mine.py::test_bad: assert 1 == 2" in failed
    log = Path(failed.partition("(log: ")[2].rstrip(")"))
    assert "test_bad" in log.read_text()


def test_tests_that_share_state_are_repeated_with_their_file(tier, monkeypatch) -> None:
    tier("STATE = []\ndef test_first(): STATE.append(1)\n" + FAILS_ONCE.replace("assert seen", "assert STATE and seen"))
    monkeypatch.setattr(run, "TIERS", (Tier("mine", 1, "made up", shares_state=True),))
    assert run.main([]) == 0


def test_many_failures_are_not_repeated(tier, capsys) -> None:
    tier("import pytest\n@pytest.mark.parametrize('n', range(41))\ndef test_bad(n): assert n < 0\n")
    assert run.main([]) == 1
    printed = capsys.readouterr().out
    assert "once more, alone" not in printed
    end = printed.strip().splitlines()[-40:]
    assert "5 more failed tests are in the logs" in end and end[-1].startswith("0 passed, 41 failed")


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
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + number, printed
    assert f"ended by signal {int(number)}" in printed
    assert until(lambda: not any(is_running(pid) for pid in pids)), [pid for pid in pids if is_running(pid)]


def test_pytest_is_interrupted_when_the_runner_is_killed(tier, tmp_path: Path) -> None:
    tier(STARTS_CHILDREN)
    program = RUNNER.format(root=str(ROOT), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, cwd=tmp_path)
    file = tmp_path / "pids"
    assert until(file.exists)
    pytest_pid, own, apart = (int(pid) for pid in file.read_text().split())
    process.kill()
    process.wait()
    try:
        assert until(lambda: not is_running(pytest_pid))
    finally:
        for pid in (own, apart):
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
    except FileNotFoundError:
        return False


HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.runner import lab_lock
with lab_lock.held(Path({file!r}), Path("/other/checkout"), print):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_checkout_waits_for_the_lab_and_says_for_which(tmp_path: Path) -> None:
    file, output = tmp_path / "tests.lock", []
    program = HOLDER.format(root=str(ROOT), file=str(file))
    other = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert other.stdin is not None and other.stdout is not None and other.stdout.readline() == "held\n"

    def say(message: str) -> None:
        output.append(message)
        other.communicate("end\n")

    with lab_lock.held(file, ROOT, say) as is_held:
        assert is_held
        assert file.read_text() == f"{ROOT} (process {os.getpid()})\n"
    assert output == [
        f"the lab is in use by the tests of /other/checkout (process {other.pid}); waiting until they end"
    ]


def test_a_waiting_checkout_can_be_ended(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "tests.lock"
    stop = threading.Event()
    monkeypatch.setattr(lab_lock, "STOP", stop)
    with lab_lock.held(file, ROOT, print), lab_lock.held(file, ROOT, lambda _: stop.set()) as is_held:
        assert not is_held


def test_a_rare_failure_shows_itself_in_repetitions(tier, capsys, monkeypatch) -> None:
    tier(FAILS_ONCE.replace("assert seen", "assert not seen"))
    monkeypatch.setattr(rare, "ROOT", run.ROOT)
    assert rare.main(["--times", "5", "tests/mine"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 5: passed" in printed and "failed in repetition 2; log: " in printed


def test_a_tier_beside_another_counts_and_is_shown_as_one(tier, capfd, monkeypatch) -> None:
    """The first waits for the other's end, so that both run at the same time."""
    tier(
        "import time\nfrom pathlib import Path\ndef test_waits():\n"
        "    while not Path('done').exists(): time.sleep(0.05)\n"
    )
    (run.ROOT / "tests" / "other").mkdir()
    bad = (
        "import os\nfrom pathlib import Path\n"
        "def test_bad(): assert os.nice(0) == 0, 'lets the other go first'\n"
        "def test_good(): Path('done').touch()\n"
    )
    (run.ROOT / "tests" / "other" / "test_other.py").write_text(bad)
    both = (Tier("other", 15, "quick", beside="mine", shares_state=True), Tier("mine", 15, "slow"))
    monkeypatch.setattr(run, "TIERS", both)
    assert run.main(["--", "-p", "no:cacheprovider"]) == (1 if os.nice(0) else 0), "repeated alone it has no niceness"
    printed = capfd.readouterr().out
    assert printed.index("== mine") < printed.index("== other") < printed.index("lets the other go first")
    assert "rare failures: 1" in printed or os.nice(0)


def test_every_file_that_is_to_start_first_exists() -> None:
    assert [name for name in order.SECONDS if not (ROOT / "tests" / name).is_file()] == []


def test_an_unknown_tier_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run", "--tier", "nosuch"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 2 and "nosuch" in done.stderr


BUSY = """
import os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.setsid()  # a session of its own: `nice` would not reach it where the kernel groups by session
print("ready", flush=True)
start = float(sys.stdin.readline())
while time.monotonic() < start:
    pass
before = time.process_time()
while time.monotonic() < start + 1.5:
    pass
print(time.process_time() - before)
"""


def test_a_tier_that_runs_beside_another_leaves_it_the_processors() -> None:
    with polite.polite() as procs:
        if procs is None:
            pytest.skip("this machine allows no control group for processors")
        group = procs.parent
        usual, humble = (
            subprocess.Popen(
                [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=join
            )
            for join in (None, partial(polite.join, procs))
        )
        for process in (usual, humble):
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        # At the same moment, or one has the processor to itself before the other has begun.
        start = f"{time.monotonic() + 0.3}\n"
        for process in (usual, humble):
            assert process.stdin is not None
            process.stdin.write(start)
            process.stdin.flush()
        first, second = (float(process.communicate(timeout=300)[0]) for process in (usual, humble))
        assert second < first / 4, "seconds of one processor that both want"
        smallest = {file: value for file, value, _ in polite.SHARES}
        (share,) = (file for file in smallest if (group / file).exists())
        assert (group / share).read_text().strip() == smallest[share]
        polite.restore_share()
        assert (group / share).read_text().strip() == {file: value for file, _, value in polite.SHARES}[share]
    assert not group.exists()
