"""README's commands in any order from a clone, beside another cluster of this user: demonstration, tests, both again."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
#: Tests of labs of their own, which once needed the address of the demonstration's emulated AWS.
TROUBLES = "tests/e2e/test_lab_troubles.py"

pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long]


class Clone:
    """Clone of this checkout, with a state folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "landbridge"
        subprocess.run(["git", "clone", "--quiet", ROOT, self.folder], check=True)
        outer = {"LANDBRIDGE_LAB", "LANDBRIDGE_TESTS_LAB_RUN", "LANDBRIDGE_TESTS_KEEP_LAB", "LANDBRIDGE_TESTS_LONG"}
        # `make` passes its options and variables on, also to a `make` of another Makefile.
        outer |= {"MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "ARGS", "TIER", "LEVEL"}
        variables = {name: value for name, value in os.environ.items() if name not in outer}
        self.variables = {**variables, "XDG_STATE_HOME": str(folder / "state")}

    def make(self, *words: str) -> str:
        """Run `make` and return its output. Raises AssertionError if it fails."""
        command = ["make", *words]
        done = subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-4000:]}{done.stderr[-2000:]}"
        return done.stdout


@pytest.fixture
def clone() -> Iterator[Clone]:
    # Other users can read a checkout, and pytest's folders they cannot.
    with tempfile.TemporaryDirectory(prefix="lb-walk-") as folder:
        Path(folder).chmod(0o755)
        cloned = Clone(Path(folder))
        try:
            yield cloned
        finally:
            cloned.make("down")


def test_commands_work_in_any_order_and_twice(clone: Clone) -> None:
    passed = set()
    for _ in range(2):
        clone.make("demo")
        (line,) = re.findall(
            r"^(\d+) passed, 0 failed, 0 skipped", clone.make("test", f"ARGS={TROUBLES}"), re.MULTILINE
        )
        passed.add(line)
    assert len(passed) == 1
    status = [str(clone.folder / ".venv/bin/landbridge"), "sandbox", "status"]
    nodes = subprocess.run(status, cwd=clone.folder, env=clone.variables, capture_output=True, text=True, check=True)
    # The tests left the demonstration's cluster as it was.
    assert re.search(r"^login01 +running", nodes.stdout, re.MULTILINE), nodes.stdout


def test_the_demonstration_works_after_one_that_was_killed(clone: Clone) -> None:
    with subprocess.Popen(
        ["make", "demo"],
        cwd=clone.folder,
        env=clone.variables,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as killed:
        assert killed.stdout is not None
        for line in killed.stdout:
            if "booting" in line:
                os.killpg(killed.pid, 9)
                break
    clone.make("demo")
