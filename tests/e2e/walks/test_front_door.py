"""README's commands in any order from a clone, beside another cluster of this user: demonstration, tests, both again."""

import json
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
#: Guard against a hang of one command, less than the time limit of a test.
LIMIT_SECONDS = 1500

pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long]


class Clone:
    """Clone of this checkout in `folder`, beside the folder of its user's state."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, folder.parent / "state"
        subprocess.run(["git", "clone", "--quiet", ROOT, self.folder], check=True)
        outer = {"LANDBRIDGE_LAB", "LANDBRIDGE_TESTS_LAB_RUN", "LANDBRIDGE_TESTS_KEEP_LAB", "LANDBRIDGE_TESTS_LONG"}
        # `make` passes its options and variables on, also to a `make` of another Makefile.
        outer |= {"MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "ARGS", "TIER", "LEVEL"}
        variables = {name: value for name, value in os.environ.items() if name not in outer}
        self.variables = {**variables, "XDG_STATE_HOME": str(self.state)}

    def make(self, *words: str) -> str:
        """Run `make` and return its output. Raises AssertionError if it fails."""
        return self._run("make", *words)

    def sandbox(self, *words: str) -> str:
        """Run `landbridge sandbox` and return its output. Raises AssertionError if it fails."""
        return self._run(".venv/bin/landbridge", "sandbox", *words)

    def login(self, command: str) -> str:
        """Run a shell's command as alice on the login host of the clone's lab; return its output."""
        return self.sandbox("exec", "login01", "--", "su", "-", "alice", "-c", command)

    def lab(self) -> tuple[Path, str]:
        """Return the folder of the clone's lab, which names it, and the address of its emulated AWS."""
        (owner,) = (
            path for path in self.state.glob("landbridge/lab*/checkout") if path.read_text() == str(self.folder)
        )
        address = json.loads((owner.parent / "cloud/ready.json").read_text())["endpoints"][0]
        return owner.parent, address

    def _run(self, *words: str) -> str:
        # With all processes that it started: they would work on the lab while it is removed.
        command = ["timeout", "--kill-after=60", str(LIMIT_SECONDS), *words]
        done = subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout[-4000:]}{done.stderr[-2000:]}"
        return done.stdout


@pytest.fixture
def home() -> Iterator[Path]:
    # Other users can read a checkout, and pytest's folders they cannot.
    with tempfile.TemporaryDirectory(prefix="lb-walk-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def clone(home: Path) -> Iterator[Clone]:
    cloned = Clone(home / "landbridge")
    try:
        yield cloned
    finally:
        cloned.make("down")


@pytest.fixture
def second_clone(clone: Clone) -> Iterator[Clone]:
    cloned = Clone(clone.folder.with_name("second"))
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
    # The tests left the demonstration's cluster as it was.
    assert re.search(r"^login01 +running", clone.sandbox("status"), re.MULTILINE)


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


def test_two_clones_of_one_user_have_labs_of_their_own_at_once(clone: Clone, second_clone: Clone) -> None:
    clone.make("demo")
    held = clone.login("sbatch --parsable --partition=onprem --time=60 --output=/dev/null --wrap='sleep 3600'").strip()
    nodes = clone.sandbox("status")
    second_clone.make("setup")
    second_clone.sandbox("up")
    tests = second_clone.make("test", f"ARGS={TROUBLES}")
    assert re.search(r"^[1-9]\d* passed, 0 failed, 0 skipped", tests, re.MULTILINE)
    first, second = clone.lab(), second_clone.lab()
    assert first[0] != second[0] and first[1] != second[1]
    # Two clusters, not one by two names: the second one has no user yet, and the first one's nodes and job are as before.
    assert "alice" not in second_clone.sandbox("exec", "login01", "--", "cat", "/etc/passwd")
    assert re.findall(r"^(\S+) +running", clone.sandbox("status"), re.MULTILINE) == re.findall(
        r"^(\S+) +running", nodes, re.MULTILINE
    )
    assert clone.login(f"squeue --noheader --format=%T --jobs={held}").strip() == "RUNNING"
    assert clone.login("srun --partition=onprem --time=1 hostname").strip().startswith("dgx")
    second_clone.make("down")
    assert not second[0].exists()
    assert clone.login(f"squeue --noheader --format=%T --jobs={held}").strip() == "RUNNING"
