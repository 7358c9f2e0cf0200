"""`make test`: what it counts, what it says was not run, and when it fails."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests import order, polite, run

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
    monkeypatch.setattr(run, "ROOT", tmp_path)

    def with_text(text: str) -> run.Tier:
        (tmp_path / "tests" / "mine" / "test_mine.py").write_text(text)
        tier = run.Tier("mine", 1, "made up")
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
    said = capsys.readouterr().out
    assert "not run: 1 of mine: needs the lab: not root" in said
    assert said.strip().splitlines()[-1].startswith("1 passed, 0 failed, 1 skipped in ")


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


def test_a_tier_that_hangs_is_ended_and_says_what_failed_before(tier, capsys, monkeypatch) -> None:
    """Also where this process ignores SIGINT, as in the background of a shell."""
    text = "import time\ndef test_bad(): assert 'this' == 'that'\ndef test_hangs(): time.sleep(100)\n"
    tier(text)
    monkeypatch.setattr(run, "TIERS", (run.Tier("mine", 0.1, "made up"),))
    (run.ROOT / "conftest.py").write_text(
        f"import sys; sys.path.append({str(ROOT)!r})\nfrom tests.conftest import pytest_runtest_logreport\n"
    )
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    began = time.monotonic()
    try:
        assert run.main([]) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    said = capsys.readouterr().out
    assert time.monotonic() - began < 60, "it was interrupted, not only killed"
    assert "not done after" in said and "failed: tests/mine/test_mine.py::test_bad: AssertionError" in said


def test_a_tier_beside_another_counts_and_is_shown_as_one(tier, capfd, monkeypatch) -> None:
    tier("import time\ndef test_waits(): time.sleep(3)\n")
    (run.ROOT / "tests" / "other").mkdir()
    bad = "import os\ndef test_bad(): assert os.nice(0) == 0, 'lets the other go first'\ndef test_good(): pass\n"
    (run.ROOT / "tests" / "other" / "test_other.py").write_text(bad)
    both = (run.Tier("other", 1, "quick", beside="mine"), run.Tier("mine", 1, "slow"))
    monkeypatch.setattr(run, "TIERS", both)
    assert run.main([]) == 1
    said = capfd.readouterr().out
    assert said.index("== mine") < said.index("== other") < said.index("lets the other go first")
    assert said.strip().splitlines()[-1].startswith("2 passed, 1 failed")
    # Alone it is a tier as any other.
    assert run.main(["--tier", "other"]) == (1 if os.nice(0) else 0)


def test_every_file_that_is_to_start_first_exists() -> None:
    assert [name for name in order.SECONDS if not (ROOT / "tests" / name).is_file()] == []


def test_an_unknown_tier_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run", "--tier", "nosuch"], cwd=ROOT, capture_output=True, text=True, timeout=60
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
            pytest.skip("this machine lets nobody make a control group of processors")
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
        first, second = (float(process.communicate(timeout=30)[0]) for process in (usual, humble))
    assert second < first / 4, "seconds of one processor that both want"
    assert not group.exists()
