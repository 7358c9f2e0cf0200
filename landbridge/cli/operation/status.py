"""Command `landbridge status`: the state of a running environment in one page, and what an operator has to do."""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    Format,
    Stack,
    exit_code,
    load,
    print_findings,
    print_json,
    stack_outputs,
)

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.netcheck.collect import HostFacts
    from landbridge.ops.status.report import StatusReport

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Limit = Annotated[
    float | None,
    typer.Option("--limit", min=0.1, help="Seconds to wait for each host; default: 1.4.", metavar="SECONDS"),
]
Save = Annotated[Path | None, typer.Option("--save", help="Save the facts of the hosts to this file.")]
Facts = Annotated[
    Path | None, typer.Option("--facts", help="Evaluate the facts that --save wrote to this file; connect to no host.")
]
Watch = Annotated[
    float | None,
    typer.Option(
        "--watch", min=1, metavar="SECONDS", help="Show the state again after this many seconds, until Ctrl-C."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(
    stack: Stack = None,
    file: File = None,
    limit: Limit = None,
    save: Save = None,
    facts: Facts = None,
    watch: Watch = None,
    form: Form = Format.TEXT,
) -> None:
    """Show the state of an environment and an operator's tasks.

    Hosts, link, queue, bursting with its budget, nodes out of service, dumps and certificates are shown. All service hosts and
    gateways are read at the same time, over ssh or, on the host itself, without it; nothing is changed. A fact that a host does
    not give in time is `not read`. Nodes are not read over ssh: what only they could say is `left out`. Exit status: 0 nothing to do, 1 something to do or a fact not read, 2 no host could be read.

    --watch repeats it until Ctrl-C, and then has the exit status of the last report.

    Example: landbridge status -s acme
    """
    loaded = load(stack, file)
    environment = loaded.environment
    if environment is None:
        print_findings(loaded.findings)
        raise typer.Exit(exit_code(loaded.findings))
    if watch is not None and form is Format.JSON:
        raise typer.BadParameter("it is for text only", param_hint="--watch")
    latest = _judged(environment, limit, save, facts)
    _show(latest, form)
    with suppress(KeyboardInterrupt):
        while watch is not None:
            time.sleep(watch)
            # Before it is printed: Ctrl-C right after the print ends with its exit status.
            latest = _judged(environment, limit, save, facts)
            _show(latest, form, clear=True)
    raise typer.Exit(latest.report.exit_status)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Report of the state, with the number of hosts that were read and the seconds that it took."""

    report: "StatusReport"
    hosts: int
    seconds: float


def _judged(environment: "Environment", limit: float | None, save: Path | None, recorded: Path | None) -> _Reading:
    """Read the facts and judge them."""
    from landbridge.ops.status.judge import judge

    started = time.time()
    collected, at = _collected(environment, limit, save, recorded)
    return _Reading(judge(environment, collected, at), len(collected), time.time() - started)


def _show(reading: _Reading, form: Format, *, clear: bool = False) -> None:
    """Print a report; `clear` empties a terminal before it."""
    if form is Format.JSON:
        print_json(reading.report.to_dict())
    else:
        _print(reading.report, reading.hosts, reading.seconds, clear=clear)


def _collected(
    environment: "Environment", limit: float | None, save: Path | None, recorded: Path | None
) -> "tuple[tuple[HostFacts, ...], float]":
    """Return the facts of the hosts, or of a file, and their time. Raises a usage error for a bad file."""
    from landbridge.ops.netcheck.record import RecordError, read_facts, write_facts
    from landbridge.ops.status.collect import SECONDS, collect_status
    from landbridge.ops.status.sources import status_sources
    from landbridge.plan.site.link.expectations import link_expectations

    outputs = stack_outputs(environment)
    if recorded is not None:
        try:
            every = read_facts(recorded, link_expectations(environment, outputs))
        except RecordError as error:
            raise typer.BadParameter(str(error), param_hint="--facts") from None
        return every, max((facts.data["time"] for facts in every if not facts.error), default=time.time())
    every = collect_status(status_sources(environment, outputs), limit if limit is not None else SECONDS)
    if save is not None:
        write_facts(save, link_expectations(environment, outputs), every)
    return every, time.time()


def _print(report: "StatusReport", hosts: int, seconds: float, *, clear: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    if clear:
        console.clear()
    styles = {"ok": "green", "attention": "bold yellow", "not read": "bold red", "left out": "dim"}
    console.print(f"{report.environment} at {report.at}: {report.read} of {hosts} hosts read in {seconds:.1f} s")
    area = ""
    for line in report.lines:
        name = line.area if line.area != area else ""
        console.print(Text(f"{name:<13}").append(f"{line.level:<10} ", style=styles[line.level]).append(line.text))
        area = line.area
    console.print("nothing needs an operator" if not report.tasks else "to do, in this order:")
    for number, task in enumerate(report.tasks, start=1):
        console.print(Text(f"{number:>3}. {task.message}"))
        console.print(Text(f"     {task.command}", style="green"))
