"""`make test`: counts, tests that were not run, and failures."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import run
from tests.runner import order, processes, rare
from tests.runner.tiers import Tier

ROOT = Path(__file__).resolve().parents[3]

CASES = """
import pytest
def test_good(): assert True
@pytest.mark.skip(reason="needs the lab: not root")
def test_away(): assert False
"""


def test_counts_and_reasons_of_skips(tier) -> None:
    outcome = run.run(tier(CASES), [])
    assert dict(outcome.counts) == {"passed": 1, "skipped": 1} and not outcome.broken
    assert list(outcome.reasons) == ["needs the lab: not root"]


def test_success_exits_with_0_and_lists_tests_that_were_not_run(tier, capsys) -> None:
    tier(CASES)
    assert run.main([]) == 0
    output = capsys.readouterr().out
    assert "not run: 1 of mine: needs the lab: not root" in output
    assert output.strip().splitlines()[-1].startswith("1 passed, 0 failed, 1 skipped in ")


@pytest.mark.parametrize(
    ("arguments", "tests"),
    [
        (["tests/mine/test_one.py"], {"test_one.py::test_a", "test_one.py::test_b"}),
        (["tests/mine/test_one.py::test_b", "-v"], {"test_one.py::test_b"}),
        (["-k", "test_b"], {"test_one.py::test_b", "test_two.py::test_b"}),
        ([], {f"test_{file}.py::test_{name}" for file in ("one", "two") for name in "ab"}),
    ],
)
def test_a_path_selects_its_tests_and_only_its_tier(
    tier, monkeypatch: pytest.MonkeyPatch, arguments: list[str], tests: set[str]
) -> None:
    mine, other = tier(CASES), Tier("other", 1, "made up", behind=True)
    monkeypatch.setattr(run, "TIERS", (mine, other))
    (run.ROOT / "tests/mine/test_mine.py").unlink()
    (run.ROOT / "tests/other").mkdir()
    text = "def test_a(): pass\ndef test_b(): pass\n"
    for file in ("mine/test_one.py", "mine/test_two.py", "other/test_three.py"):
        (run.ROOT / "tests" / file).write_text(text)
    run.main(["--", *arguments])
    rows = [json.loads(row) for row in (run.ROOT / run.LOGS / "mine.jsonl").read_text().splitlines()]
    assert {row["test"].removeprefix("tests/mine/") for row in rows if row["outcome"] == "passed"} == tests
    assert (run.ROOT / run.LOGS / "other.jsonl").exists() == (arguments[:1] in ([], ["-k"]))


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


class Clock:
    """Clock of the watch over progress: an hour later for each file that a test asks it to confirm, and with each look at a
    test that hangs.
    """

    sleep = staticmethod(time.sleep)

    def __init__(self) -> None:
        self.hours = 0

    def monotonic(self) -> float:
        for request in run.ROOT.glob("*.request"):
            request.rename(request.with_suffix(".confirmed"))
            self.hours += 1
        self.hours += (run.ROOT / "hangs").exists()
        return time.monotonic() + 3600 * self.hours


def test_a_tier_without_progress_is_ended_and_lists_earlier_failures(tier, capsys, monkeypatch) -> None:
    """Also if this process ignores SIGINT, as in the background of a shell."""
    tier(
        "import time\nfrom pathlib import Path\ndef test_bad(): assert 'this' == 'that'\n"
        "def test_hangs():\n    Path('hangs').touch()\n    time.sleep(1000)\n"
    )
    monkeypatch.setattr(run, "TIERS", (Tier("mine", 15, "made up"),))
    monkeypatch.setattr(processes, "time", Clock())
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run.main([]) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    printed = capsys.readouterr().out
    assert "KeyboardInterrupt" in printed, "it was interrupted, not only killed"
    assert "no test ended for 15 minutes" in printed
    assert "failed: tests/mine/test_mine.py::test_bad: AssertionError" in printed


def test_a_tier_with_progress_is_not_ended(tier, monkeypatch) -> None:
    """Run four tests of an hour each by the clock, where a test may take 90 minutes."""
    tier(
        "import time\nfrom pathlib import Path\nimport pytest\n"
        "@pytest.mark.parametrize('number', range(4))\ndef test_takes_an_hour(number):\n"
        "    Path(f'{number}.request').touch()\n"
        "    while not Path(f'{number}.confirmed').exists(): time.sleep(0.02)\n"
    )
    monkeypatch.setattr(run, "TIERS", (Tier("mine", 90, "made up"),))
    clock = Clock()
    monkeypatch.setattr(processes, "time", clock)
    assert run.main([]) == 0
    assert clock.hours == 4


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


def test_the_error_of_a_test_that_fails_twice_is_printed_with_its_end_from_both_runs(tier, capsys) -> None:
    """The first line of an error has the command alone; the reason is in the last ones."""
    tier(
        "from pathlib import Path\n"
        "def test_bad():\n"
        "    runs = Path(__file__).with_name('runs')\n"
        "    runs.write_text(str(int(runs.read_text()) + 1 if runs.exists() else 1))\n"
        "    raise ValueError('command failed\\n' + 'x\\n' * 20_000 + f'reason {runs.read_text()}')\n"
        "def test_good(): pass\n"
    )
    assert run.main([]) == 1
    printed = capsys.readouterr().out
    _, _, end = printed.rpartition("error of tests/mine/test_mine.py::test_bad:\n")
    first, _, second = end.partition("error of tests/mine/test_mine.py::test_bad when repeated:\n")
    assert first.startswith("  ValueError: command failed\n") and first.endswith("  reason 1\n") and len(first) < 3500
    assert (
        "  reason 2\n" in second
        and "failed: tests/mine/test_mine.py::test_bad: ValueError: command failed (log" in second
    )


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


def test_a_rare_failure_shows_itself_in_repetitions(tier, capsys, monkeypatch) -> None:
    tier(FAILS_ONCE.replace("assert seen", "assert not seen"))
    monkeypatch.setattr(rare, "ROOT", run.ROOT)
    assert rare.main(["--times", "5", "tests/mine"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 5: passed" in printed and "failed in repetition 2; log: " in printed


def test_every_file_that_is_to_start_first_exists() -> None:
    assert [name for name in order.SECONDS if not (ROOT / "tests" / name).is_file()] == []


def test_an_unknown_tier_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run", "--tier", "nosuch"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2 and "nosuch" in done.stderr
