"""Tiers that run behind others: at the same time, with a small share of the processors."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest

from tests import run
from tests.runner import polite
from tests.runner.tiers import Tier


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
    both = (Tier("other", 15, "quick", behind=True, shares_state=True), Tier("mine", 15, "slow"))
    monkeypatch.setattr(run, "TIERS", both)
    assert run.main(["--", "-p", "no:cacheprovider"]) == (1 if os.nice(0) else 0), "repeated alone it has no niceness"
    printed = capfd.readouterr().out
    assert printed.index("== mine") < printed.index("[other: 1 passed, 1 failed in ") < printed.index("== other")
    assert printed.index("== other") < printed.index("lets the other go first")
    assert "rare failures: 1" in printed or os.nice(0)


def test_tiers_behind_run_one_after_the_other_while_the_first_ones_run(tier, capfd, monkeypatch) -> None:
    """The tier in front waits for the second tier behind it."""
    tier(
        "import time\nfrom pathlib import Path\ndef test_waits():\n"
        "    while not Path('done').exists(): time.sleep(0.05)\n"
    )
    texts = {"early": "def test_a(): Path('early').touch()\n", "late": "def test_b(): Path('early').rename('done')\n"}
    for name, text in texts.items():
        (run.ROOT / "tests" / name).mkdir()
        (run.ROOT / "tests" / name / f"test_{name}.py").write_text(f"from pathlib import Path\n{text}")
    tiers = [Tier(name, 15, "quick", behind=True) for name in texts]
    monkeypatch.setattr(run, "TIERS", (*tiers, Tier("mine", 15, "slow")))
    assert run.main(["--", "-p", "no:cacheprovider"]) == 0
    printed = capfd.readouterr().out
    assert "3 passed, 0 failed, 0 skipped" in printed
    assert run.main(["--tier", "early", "--tier", "late", "--", "-p", "no:cacheprovider", "--co"]) == 1, "no test ran"
    printed = capfd.readouterr().out
    assert printed.index("== early") < printed.index("test_a") < printed.index("== late"), "alone they are in front"


def test_tiers_in_front_run_at_the_same_time(tier, capfd, monkeypatch) -> None:
    """Each waits for the other one, and only the first one's output is not held back."""
    waits = "import time\nfrom pathlib import Path\n"
    wait = "    while not Path('{}').exists(): time.sleep(0.05)\n"
    tier(waits + "def test_waits():\n    Path('mine').touch()\n" + wait.format("other"))
    (run.ROOT / "tests" / "other").mkdir()
    other = waits + "def test_other():\n" + wait.format("mine") + "    Path('other').touch()\n    assert 1 == 2\n"
    (run.ROOT / "tests" / "other" / "test_other.py").write_text(other)
    monkeypatch.setattr(run, "TIERS", (Tier("mine", 15, "first"), Tier("other", 15, "second")))
    assert run.main(["--", "-p", "no:cacheprovider"]) == 1
    printed = capfd.readouterr().out
    assert (
        printed.index("== mine") < printed.index("[other: 0 passed, 1 failed in ") < printed.index("== other: second")
    )
    assert "1 passed, 1 failed, 0 skipped" in printed


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
        # This test may itself run in such a group, and with a low priority.
        root = group.parent / "cgroup.procs"

        def join_usual() -> None:
            root.write_text("0")
            if os.geteuid() == 0:
                os.setpriority(os.PRIO_PROCESS, 0, 0)

        usual, humble = (
            subprocess.Popen(
                [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=join
            )
            for join in (join_usual, partial(polite.join, procs))
        )
        for process in (usual, humble):
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        # Both start at the same moment: otherwise the first has the processor alone for a time.
        start = f"{time.monotonic() + 0.3}\n"
        for process in (usual, humble):
            assert process.stdin is not None
            process.stdin.write(start)
            process.stdin.flush()
        first, second = (float(process.communicate()[0]) for process in (usual, humble))
        assert second < first / 2, "seconds of one processor that both want"
        small = {file: value for file, value, _ in polite.SHARES}
        (share,) = (file for file in small if (group / file).exists())
        assert (group / share).read_text().strip() == small[share]
        polite.restore_share()
        assert (group / share).read_text().strip() == {file: value for file, _, value in polite.SHARES}[share]
    assert not group.exists()
