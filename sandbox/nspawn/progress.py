"""Progress of slow steps, as a callback: the lab never prints, its callers decide where the lines go."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]


def silent(_: str) -> None:
    """A Report that says nothing."""


@contextmanager
def step(report: Report, what: str) -> Iterator[None]:
    """Say `what` when it starts and how long it took when it has ended; a failure passes through untouched."""
    report(f"{what} ...")
    begun = time.monotonic()
    yield
    report(f"{what}: {time.monotonic() - begun:.1f} s")
