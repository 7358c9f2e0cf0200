"""Progress of a Pulumi operation on standard error: a bar on a terminal, otherwise one line for each change."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from landbridge.realise.steps import Event

_STYLES = {"create": "green", "update": "yellow", "delete": "red", "replace": "magenta"}


class StackDisplay:
    """Context manager that shows events. Unchanged resources are not shown; with `quiet` no single changes either."""

    def __init__(
        self, operation: str, environment: str, console: Console | None = None, *, quiet: bool = False
    ) -> None:
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._title, self._quiet = f"{operation} {environment}", quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.completed:.0f} resources"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task(self._title, total=None)
        self._seen, self._started = 0, time.monotonic()

    def __enter__(self) -> "StackDisplay":
        if self._console.is_terminal:
            self._progress.start()
        else:
            self._console.print(f"{self._title} ...")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._progress.stop()

    def __call__(self, event: "Event") -> None:
        """Show one event."""
        from landbridge.realise.steps import Message, Step

        if isinstance(event, Message) and event.severity == "warning":
            self._console.print(f"warning: {event.text}", style="yellow", markup=False)
        if not isinstance(event, Step):
            return
        if event.phase == "started":
            self._progress.update(self._task, description=f"{self._title}: {event.name}")
            return
        self._seen += 1
        self._progress.update(self._task, completed=self._seen)
        if not self._quiet and (event.changes or event.phase == "failed"):
            style = "bold red" if event.phase == "failed" else _STYLES.get(event.operation, "cyan")
            mark = "failed" if event.phase == "failed" else event.operation
            self._console.print(f"  {mark:8} {_short(event.type):34} {event.name}", style=style, markup=False)


def _short(token: str) -> str:
    """Return a short name of a type: `aws:ec2/vpc:Vpc` is `aws ec2 Vpc`."""
    package, module, name = token.split(":")
    return f"{package} {module.split('/')[0]} {name}" if package == "aws" else name
