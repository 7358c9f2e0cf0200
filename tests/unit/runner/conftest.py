"""A tier of tests in a temporary checkout, run by the same runner."""

from pathlib import Path

import pytest

from tests import run
from tests.runner.tiers import Tier

ROOT = Path(__file__).resolve().parents[3]


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
