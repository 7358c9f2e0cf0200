"""Command `landbridge place simulate`: destinations of the jobs of a trace, with their cost and the reasons against others."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require, require_trace

if TYPE_CHECKING:
    from landbridge.simulation.placement import PlacementReport

Trace = Annotated[
    Path,
    typer.Argument(help="CSV with a header, output of sacct, a list in JSON, or `squeue --json`."),
]
Restricted = Annotated[
    float, typer.Option(min=0, max=1, help="Share of the jobs without an account whose data must stay on-prem.")
]
Sample = Annotated[float, typer.Option(min=0, max=1, help="Share of the trace's jobs to place.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(simulate)


def simulate(
    trace: Trace,
    stack: Stack = None,
    file: File = None,
    restricted: Restricted = 0.2,
    sample: Sample = 1.0,
    form: Form = Format.TEXT,
) -> None:
    """Place each job of a trace where it costs least. Prints jobs, GPU hours and US dollars by destination, and refusals.

    Example: landbridge place simulate jobs.csv -s hybrid
    """
    from landbridge.simulation.mapping import AccountMapping, simulated_jobs
    from landbridge.simulation.placement import placed_jobs
    from landbridge.simulation.scenario import scenario_of

    environment = require(stack, file)
    recorded = require_trace(trace)
    jobs = simulated_jobs(recorded.jobs, scenario_of(environment).policy, AccountMapping(restricted, sample))
    if not jobs:
        typer.echo(f"landbridge: --sample {sample} leaves no job of {trace}", err=True)
        raise typer.Exit(2)
    if not sys.stderr.isatty():
        report = placed_jobs(environment, jobs)
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bars:
            bar = bars.add_task("placing", total=len(jobs))
            report = placed_jobs(environment, jobs, progress=lambda done: bars.update(bar, completed=done))
    if form is Format.JSON:
        print_json(report.as_data())
    else:
        _text(report)


def _text(report: "PlacementReport") -> None:
    from landbridge.simulation.placement import ASSUMPTIONS

    echo = typer.echo
    echo(f"{report.environment}: {report.jobs:,} jobs")
    echo(f"\n{'destination':34}{'jobs':>9}{'GPU hours':>12}{'mean wait, h':>14}{'USD':>14}{'waiting, USD':>14}")
    for name, total in report.destinations.items():
        wait = total.wait_hours / total.jobs if total.jobs else 0.0
        row = f"{name:34}{total.jobs:>9,}{total.gpu_hours:>12,.0f}{wait:>14,.2f}{total.usd:>14,.0f}"
        unknown = f"  at least: {total.unpriced:,} jobs have no known price" if total.unpriced else ""
        echo(f"{row}{total.waiting_usd:>14,.0f}{unknown}")
    if report.nowhere:
        echo(f"{'nowhere':34}{report.nowhere:>9,}")
    if report.refused:
        echo("\nrefused by")
    for (destination, name), jobs in sorted(report.refused.items()):
        echo(f"  {name:12} {destination:30}{jobs:>9,} jobs")
    echo(f"\nclasses: {', '.join(f'{name} {jobs:,}' for name, jobs in sorted(report.classes.items()))}")
    echo("assumed: " + ";\n  ".join(ASSUMPTIONS))
