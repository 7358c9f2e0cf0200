"""Lock of the machine's lab: one run of tests at a time uses it.

`make test` holds it for its tiers, and pytest that is called directly for itself. A run is one process: the workers of
pytest-xdist belong to the run of the process that started them. VARIABLE names the run to processes below it.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from tests.runner.processes import STOP

#: Environment variable with the id of the process whose run holds the lock.
VARIABLE = "LANDBRIDGE_TESTS_LAB_RUN"
_POLL_SECONDS, _REMINDER_SECONDS = 1.0, 300.0


def lock_file() -> Path:
    """Return the lock's file, the same for every checkout of this user."""
    from sandbox.nspawn.layout import layout

    return layout().state.parent / "tests.lock"


def run_of_this_process() -> int:
    """Return the id of the process whose run this one belongs to: for a worker of pytest-xdist that of its parent."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def is_held_above(file: Path) -> bool:
    """Return whether the run that VARIABLE names still holds the lock."""
    run = os.environ.get(VARIABLE)
    if not run or not file.exists() or not file.read_text().endswith(f"(process {run})\n"):
        return False
    with file.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@contextlib.contextmanager
def held(file: Path, checkout: Path, say: Callable[[str], None], run: int | None = None) -> Iterator[bool]:
    """Hold the lock for a run, by default this process; wait for it as long as another run has it, print which now and
    then. Yield false after a stop signal.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    run = run or os.getpid()
    holder = f"{checkout} (process {run})\n"
    with file.open("a+") as handle:
        announced, announced_at = None, 0.0
        while not STOP.is_set():
            if _is_taken(handle, file, holder):
                break
            other = file.read_text().strip()
            if other != announced or time.monotonic() - announced_at > _REMINDER_SECONDS:
                say(f"the lab is in use by the tests of {other or 'another checkout'}; waiting until they end")
                announced, announced_at = other, time.monotonic()
            time.sleep(_POLL_SECONDS)
        else:
            yield False
            return
        above = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = str(run)
        try:
            yield True
        finally:
            if above is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = above


def _is_taken(handle: IO[str], file: Path, holder: str) -> bool:
    """Take the lock, shared by the processes of one run; return false while another run has it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        handle.truncate(0)
        handle.write(holder)
        handle.flush()
    except BlockingIOError:
        if file.read_text() != holder:
            return False
    # Not atomic: in between, another run can take the lock. It writes its own name first.
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    if file.read_text() == holder:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False
