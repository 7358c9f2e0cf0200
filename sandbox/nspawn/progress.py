"""Progress of slow steps, as a callback: the lab never prints, its callers decide where the lines go."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]


def silent(_: str) -> None:
    """A Report that says nothing."""


@contextmanager
def step(report: Report, what: str) -> Iterator[None]:
    """Report the start of a step and its duration at the end; a failure passes through unchanged."""
    report(f"{what} ...")
    begun = time.monotonic()
    yield
    report(f"{what}: {time.monotonic() - begun:.1f} s")
