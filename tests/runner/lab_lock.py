"""Lock of the machine's lab: one checkout at a time runs tests on it."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.runner.processes import STOP

_POLL_SECONDS = 1.0


def lock_file() -> Path:
    """Return the lock's file, the same for every checkout of this user."""
    from sandbox.nspawn.layout import layout

    return layout().state.parent / "tests.lock"


@contextlib.contextmanager
def held(file: Path, checkout: Path, say: Callable[[str], None]) -> Iterator[bool]:
    """Hold the lock; wait for it as long as another checkout has it, print which. Yield false after a stop signal."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+") as handle:
        announced = ""
        while not STOP.is_set():
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = file.read_text().strip()
                if holder != announced:
                    say(f"the lab is in use by the tests of {holder or 'another checkout'}; waiting until they end")
                    announced = holder
                time.sleep(_POLL_SECONDS)
        else:
            yield False
            return
        handle.truncate(0)
        handle.write(f"{checkout} (process {os.getpid()})\n")
        handle.flush()
        yield True
