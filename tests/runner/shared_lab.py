"""Lab that the tiers share: a lab that existed before the tests is kept, another is removed at the end."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

#: For tests/conftest.py: `yes` if the lab existed before the tests.
KEPT = "LANDBRIDGE_TESTS_KEEP_LAB"


def state() -> Path:
    """Return the folder of the lab's state; it exists as long as the lab."""
    from sandbox.nspawn.layout import layout

    return layout().state


def mark() -> Path:
    """Return the file that exists as long as the tests have to remove the lab."""
    return state().parent / "tests.lab"


def take_down() -> None:
    """Remove the lab with `landbridge sandbox down`."""
    command = [sys.executable, "-m", "landbridge.cli.main", "sandbox", "down"]
    subprocess.run(command, cwd=Path(__file__).resolve().parents[2], timeout=600, check=True)


def take_down_early(remove: Callable[[], None] = take_down) -> None:
    """Remove a lab that existed before no test, when no further test uses it: an idle lab takes a third of a processor."""
    if os.environ.get(KEPT) == "no" and state().exists():
        remove()


@contextlib.contextmanager
def shared(say: Callable[[str], None], remove: Callable[[], None] = take_down) -> Iterator[None]:
    """Remove the lab after the tests unless it existed before them.

    Tests that were killed remove nothing: their lab, possibly with half-configured machines, is removed by the next tests.
    """
    if mark().exists() and state().exists():
        say("removing the lab of tests that were killed")
        remove()
    mark().unlink(missing_ok=True)
    existed = state().exists()
    if not existed:
        mark().parent.mkdir(parents=True, exist_ok=True)
        mark().touch()
    os.environ[KEPT] = "yes" if existed else "no"
    yield
    if not existed:
        if state().exists():
            remove()
        mark().unlink()
