"""Progress of a preflight on standard error of a terminal: current check and number of checks."""

from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landbridge.live.preflight import PreflightCheck


class PreflightDisplay:
    """Context manager with a progress bar if `shown`; no output otherwise."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown

    def __enter__(self) -> "PreflightDisplay":
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (BarColumn(bar_width=30), TextColumn("{task.description}"), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task("querying AWS", total=None)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._progress.stop()

    def __call__(self, check: "PreflightCheck", done: int, total: int) -> None:
        """Count a completed check."""
        if self._shown:
            self._progress.update(self._task, completed=done, total=total, description=f"checked {check.looks_at}")
