"""Report of a demonstration: live progress, a summary at the end, and the same as JSON.

A level (embedded or full) works inside `report.step(...)` and records resources and jobs; it prints nothing itself.
Steps may run in parallel threads.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table


class DemoError(Exception):
    """Error that ends the demonstration; `fix` names the remedy."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


@dataclass
class DemoStep:
    """Step of the demonstration: set `result`, and call `note` for progress lines."""

    name: str
    began: float
    state: Literal["running", "done", "failed"] = "running"
    seconds: float = 0.0
    result: str = ""
    notes: list[str] = field(default_factory=list)
    _show: object = None

    def note(self, line: str) -> None:
        """Print a line under the step at once."""
        self.notes.append(line)
        if callable(self._show):
            self._show(line)


@dataclass(frozen=True)
class DemoJob:
    """Training job of the demonstration: nodes, duration, and cost at the catalogue's prices."""

    name: str
    job_id: str
    site: str
    nodes: tuple[str, ...]
    gpus: int
    state: str
    waited_seconds: float
    ran_seconds: float
    cost_usd: float | None
    cost_basis: str
    tracking_run: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reality:
    """Row of the summary: one part, its stand-in, and the addition of a more capable machine or a real account."""

    part: str
    kind: Literal["real", "simulated", "absent"]
    how: str
    adds: str = ""


class DemoReport:
    """Report of the demonstration: steps, jobs, resources and real parts; thread-safe."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        self.title = title
        self.level = ""
        self.steps: list[DemoStep] = []
        self.jobs: list[DemoJob] = []
        self.realities: list[Reality] = []
        self.resources: Counter[str] = Counter()
        self.next_steps: list[str] = []
        # Without a terminal, rich would wrap tables at 80 columns.
        self.console = console or Console(highlight=False, width=None if sys.stdout.isatty() else 150)
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )

    @contextmanager
    def live(self) -> Iterator["DemoReport"]:
        """Show running steps with a spinner while inside (on a terminal only; elsewhere plain lines)."""
        with self._progress:
            yield self

    @contextmanager
    def step(self, name: str) -> Iterator[DemoStep]:
        """Time a step and print its start, notes and end; an exception marks it as failed and is raised again."""
        step = DemoStep(name, began=time.monotonic() - self._began, _show=self._line)
        began = time.monotonic()
        with self._lock:
            self.steps.append(step)
            task: TaskID = self._progress.add_task(name)
        if not self.console.is_terminal:
            self._line(f"> {name}", indent=0)
        try:
            yield step
            step.state = "done"
        except BaseException:
            step.state = "failed"
            raise
        finally:
            step.seconds = time.monotonic() - began
            self._progress.remove_task(task)
            mark = "ok  " if step.state == "done" else "FAIL"
            self._line(f"{mark} {step.seconds:6.1f} s  {name}{': ' if step.result else ''}{step.result}", indent=0)

    def add_resources(self, resources: Mapping[str, int]) -> None:
        """Count resources by kind (a Pulumi type such as `aws:ec2/vpc:Vpc`, or a plain word)."""
        with self._lock:
            self.resources.update(resources)

    def add_job(self, job: DemoJob) -> None:
        """Record a job."""
        with self._lock:
            self.jobs.append(job)

    def add_realities(self, *realities: Reality) -> None:
        """Add rows about parts that were real, simulated or absent."""
        with self._lock:
            self.realities.extend(realities)

    def seconds(self) -> float:
        """Return the seconds since the report began."""
        return time.monotonic() - self._began

    def as_dict(self) -> dict[str, object]:
        """Return all values, ready for JSON."""
        steps = [{k: v for k, v in vars(step).items() if k != "_show"} for step in self.steps]
        return {
            "title": self.title,
            "level": self.level,
            "seconds": round(self.seconds(), 1),
            "steps": steps,
            "jobs": [{**asdict(job), "nodes": list(job.nodes)} for job in self.jobs],
            "resources": dict(self.resources),
            "realities": [asdict(reality) for reality in self.realities],
        }

    def save(self, path: Path) -> None:
        """Write the report as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.as_dict(), indent=2) + "\n")

    def summary(self) -> None:
        """Print the summary's tables and the next commands."""
        self.console.print()
        self.console.print(f"{self.title}: {self.level} level, {self.seconds():.0f} s in all", style="bold")
        for table in (_steps(self.steps), _resources(self.resources), _jobs(self.jobs), _realities(self.realities)):
            if table.row_count:
                # rich would wrap a table's title at the width of a narrow table.
                self.console.print(f"\n{table.title}", style="bold")
                table.title = None
                self.console.print(table)
        for line in self.next_steps:
            self.console.print(line)

    def _line(self, text: str, indent: int = 4) -> None:
        with self._lock:
            self.console.print(" " * indent + text, markup=False, soft_wrap=True)


def _table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(title=title, box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def _steps(steps: list[DemoStep]) -> Table:
    table = _table("Steps", "step", "seconds", "result", right=("seconds",))
    for step in steps:
        table.add_row(step.name, f"{step.seconds:.1f}", step.result if step.state == "done" else step.state.upper())
    return table


def _resources(resources: Counter[str]) -> Table:
    """Return a table with one row per AWS service; a row per resource would be too long."""
    table = _table(f"Resources created: {sum(resources.values())}", "count", "service", "kinds", right=("count",))
    services: dict[str, Counter[str]] = {}
    for token, count in resources.items():
        service, _, kind = token.rpartition(":")
        services.setdefault(service.partition("/")[0], Counter())[kind] += count
    for service, kinds in sorted(services.items(), key=lambda item: -sum(item[1].values())):
        words = [kind if count == 1 else f"{kind} {count}" for kind, count in kinds.most_common()]
        table.add_row(str(sum(kinds.values())), service, ", ".join(words))
    return table


def _jobs(jobs: list[DemoJob]) -> Table:
    table = _table(
        "Jobs", "job", "where", "state", "waited s", "ran s", "would have cost", "MLflow", right=("waited s", "ran s")
    )
    for job in jobs:
        cost = "unknown" if job.cost_usd is None else f"${job.cost_usd:,.2f}"
        figures = ", ".join(f"{name} {value:.3g}" for name, value in job.metrics.items())
        table.add_row(
            f"{job.name} ({job.job_id})",
            f"{job.site}: {', '.join(job.nodes)} ({job.gpus} GPUs)",
            job.state,
            f"{job.waited_seconds:.1f}",
            f"{job.ran_seconds:.1f}",
            f"{cost}, {job.cost_basis}" if job.cost_basis else cost,
            f"run {job.tracking_run[:8]}: {figures}" if job.tracking_run else "none",
        )
    return table


def _realities(realities: list[Reality]) -> Table:
    table = _table("Real parts and stand-ins", "part", "", "how", "added by a more capable machine or a real account")
    for reality in realities:
        table.add_row(reality.part, reality.kind, reality.how, reality.adds)
    return table
