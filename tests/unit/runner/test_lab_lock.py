"""Lock of the lab: one checkout at a time uses it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.runner import lab_lock
from tests.unit.runner.test_end_of_run import until

ROOT = Path(__file__).resolve().parents[3]

HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.runner import lab_lock
with lab_lock.held(Path({file!r}), Path("/other/checkout"), print):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_checkout_waits_for_the_lab_and_names_its_user(tmp_path: Path) -> None:
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
    with lab_lock.held(file, ROOT, print), lab_lock.held(file, ROOT, lambda _: stop.set(), 1) as is_held:
        assert not is_held


#: The first test of a run says that it has the lab, and waits until the other run says what it waits for.
USES_LAB = """
import os, time
from pathlib import Path
import pytest
pytestmark = pytest.mark.lab
@pytest.mark.parametrize("number", range(4))
def test_on_the_lab(number):
    with Path("uses").open("a") as file:
        file.write(f"{os.environ['RUN']}\\n")
    limit = time.monotonic() + 300
    while os.environ["RUN"] == "first" and not Path("waited").exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
"""
HOOKS = """
import sys
sys.path.insert(0, {root!r})
from tests.conftest import pytest_collection_finish, pytest_unconfigure
"""


def pytest_below(folder: Path, run: str, *options: str, **variables: str) -> subprocess.Popen[str]:
    """Start pytest as a developer does, on a test that uses the lab."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "LANDBRIDGE_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**environ, "RUN": run, "XDG_STATE_HOME": str(folder / "state"), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = lab\n")
    (tmp_path / "conftest.py").write_text(HOOKS.format(root=str(ROOT)))
    (tmp_path / "test_mine.py").write_text(USES_LAB)
    return tmp_path


@pytest.mark.parametrize("workers", [["-n", "2"], []])
def test_pytest_called_directly_waits_for_the_lab_and_names_its_user(checkout: Path, workers: list[str]) -> None:
    first = pytest_below(checkout, "first", *workers)
    assert until((checkout / "uses").exists)
    second = pytest_below(checkout, "second")
    assert second.stdout is not None
    printed = second.stdout.readline()
    assert printed == f"the lab is in use by the tests of {ROOT} (process {first.pid}); waiting until they end\n"
    (checkout / "waited").touch()
    for process in (first, second):
        output, _ = process.communicate()
        assert process.returncode == 0 and "4 passed" in output, output
    assert (checkout / "uses").read_text().split() == ["first"] * 4 + ["second"] * 4


def test_pytest_below_the_holder_uses_the_lab_at_once(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `make test` has set it for its own lock.
    monkeypatch.delenv(lab_lock.VARIABLE, raising=False)
    with lab_lock.held(checkout / "state" / "landbridge" / "tests.lock", ROOT, print) as is_held:
        run = {lab_lock.VARIABLE: os.environ[lab_lock.VARIABLE]}
        output, _ = pytest_below(checkout, "below", "-n", "2", **run).communicate()
    assert is_held and "4 passed" in output and "in use" not in output
    assert lab_lock.VARIABLE not in os.environ


def test_the_variable_of_a_run_that_has_ended_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tests.lock"
    with lab_lock.held(file, ROOT, print):
        assert lab_lock.is_held_above(file)
        run = os.environ[lab_lock.VARIABLE]
    monkeypatch.setenv(lab_lock.VARIABLE, run)
    assert not lab_lock.is_held_above(file)
