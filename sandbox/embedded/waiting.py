"""Waiting for a condition as long as the described state still changes."""

import time
from collections.abc import Callable
from pathlib import Path

#: Seconds without a change of the state after which a wait fails; long, because a busy machine is slow.
NO_PROGRESS_SECONDS = 300


def wait_for_progress(condition: Callable[[], object], describe: Callable[[], str], problem: str, log: Path) -> None:
    """Wait until `condition()` is true.

    Raise TimeoutError when `describe()` has not changed for `NO_PROGRESS_SECONDS`, with the problem, that text and the
    end of the log.
    """
    last_state, deadline = "", 0.0
    while not condition():
        state = describe()
        if state != last_state:
            last_state, deadline = state, time.monotonic() + NO_PROGRESS_SECONDS
        elif time.monotonic() > deadline:
            log_end = log.read_text(errors="replace")[-3000:] if log.exists() else ""
            raise TimeoutError(f"{problem}; no progress in {NO_PROGRESS_SECONDS} s:\n{state}\n{log_end}")
        time.sleep(0.05)
