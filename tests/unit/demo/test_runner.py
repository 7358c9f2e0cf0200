"""`make test`: what it counts, what it says was not run, and when it fails."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import run

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


def test_an_unknown_tier_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run", "--tier", "nosuch"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and "nosuch" in done.stderr
