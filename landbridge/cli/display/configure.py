"""Progress of a configuration run: current task on a terminal, otherwise one line for each change."""

from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from landbridge.realise.configure import Event, TaskStarted

_STYLES = {"changed": "yellow", "failed": "bold red", "unreachable": "bold red"}


class ConfigureDisplay:
    """Context manager that shows events; an unchanged task appears only by name while it runs."""

    def __init__(self, environment: str, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._title = f"configure {environment}"
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._bar = self._progress.add_task(self._title, total=None)
        self._play, self._seen = "", Counter[str]()
        self._pending: dict[TaskStarted, dict[str, list[str]]] = {}

    def __enter__(self) -> "ConfigureDisplay":
        if self._console.is_terminal:
            self._progress.start()
        else:
            self._console.print(f"{self._title} ...")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._print(list(self._pending))
        if self._console.is_terminal:
            self._progress.stop()

    def __call__(self, event: "Event") -> None:
        """Show one event."""
        from landbridge.realise.configure import TaskStarted

        if isinstance(event, TaskStarted):
            self._begin(event)
            return
        self._seen[event.state] += 1
        self._print(
            [task for task, results in self._pending.items() if task != event.task and _has(results, event.host)]
        )
        if event.state != "ok":
            self._pending.setdefault(event.task, {}).setdefault(event.state, []).append(event.host)
        for name in event.removals:
            self._console.print(f"  remove      {name}  [{event.host}]", style="yellow", markup=False)
        if event.message:
            self._print([event.task])
            text = "\n".join("      " + line for line in event.message.splitlines())
            self._console.print(text, style="red", markup=False)
        self._describe(event.task)

    def _begin(self, task: "TaskStarted") -> None:
        if task.play != self._play:
            self._print(list(self._pending))
            self._play = task.play
            self._console.print(self._play, style="bold", markup=False)
        self._describe(task)

    def _describe(self, task: "TaskStarted") -> None:
        counts = ", ".join(f"{self._seen[state]} {state}" for state in ("ok", "changed", "failed") if self._seen[state])
        self._progress.update(self._bar, description=f"{task.name}  ({counts})" if counts else task.name)

    def _print(self, tasks: "Sequence[TaskStarted]") -> None:
        """Print one line for each task that changed hosts, with these hosts, when one of them starts another task."""
        from landbridge.hostlist import compress

        for task in tasks:
            for state, hosts in self._pending.pop(task, {}).items():
                self._console.print(
                    f"  {state:11} {task.name}  [{compress(hosts)}]", style=_STYLES[state], markup=False
                )


def _has(results: "Mapping[str, list[str]]", host: str) -> bool:
    return any(host in hosts for hosts in results.values())
