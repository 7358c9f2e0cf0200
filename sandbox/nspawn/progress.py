"""Progress of slow steps through a callback: the lab never prints; its callers decide where the lines are printed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]


def silent(_: str) -> None:
    """Discard a line of progress."""


@contextmanager
def step(report: Report, description: str) -> Iterator[None]:
    """Report the start of a step and its duration at the end; a failure passes through unchanged."""
    report(f"{description} ...")
    started = time.monotonic()
    yield
    report(f"{description}: {time.monotonic() - started:.1f} s")
