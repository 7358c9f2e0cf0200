"""Progress of a transfer on a terminal: bytes, rate and remaining time."""

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(total: int, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds transferred bytes, safe for threads; without a terminal it displays nothing."""
    if not shown or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=total)
        yield lambda count: bars.update(bar, advance=count)
