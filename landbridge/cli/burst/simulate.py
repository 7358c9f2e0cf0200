"""Command `landbridge burst simulate`: replay a job history against an environment. Runs on any machine without network
access.
"""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from landbridge.simulation.report import SimulationReport
    from landbridge.simulation.result import SimulatedJob, SimulationResult
    from landbridge.simulation.scenario import Scenario

Queue = Annotated[
    Path,
    typer.Argument(help="CSV (timestamp,duration,num_gpus,cluster or account), a list in JSON, or `squeue --json`."),
]
Restricted = Annotated[
    float, typer.Option(min=0, max=1, help="Share of the jobs without an account whose data must stay on-prem.")
]
Sample = Annotated[float, typer.Option(min=0, max=1, help="Share of the queue's jobs to replay.")]
Factor = Annotated[float, typer.Option(min=1, help="Time limit of a job without one, as a multiple of its run time.")]
Wait = Annotated[
    float | None, typer.Option(min=0, help="Minutes a job waits before it may burst, instead of burst.wait_minutes.")
]
Picture = Annotated[Path | None, typer.Option(help="SVG file to draw the result to.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(simulate)


def simulate(
    queue: Queue,
    stack: Stack = None,
    file: File = None,
    restricted: Restricted = 0.2,
    sample: Sample = 1.0,
    limit_factor: Factor = 2.0,
    wait: Wait = None,
    picture: Picture = None,
    form: Form = Format.TEXT,
) -> None:
    """Replay a recorded job queue, with and without bursting. Prints waits, GPU hours, spend and refusals.

    Budgets, data classes and capacity of the environment apply, as on the controller. Example:
    landbridge burst simulate jobs.csv -s hybrid --picture jobs.svg
    """
    from landbridge.simulation.mapping import AccountMapping, simulated_jobs
    from landbridge.simulation.report import report
    from landbridge.simulation.scenario import scenario_of
    from landbridge.simulation.trace import TraceError, read

    # The replay creates no garbage with reference cycles, and the search for it would take a fifth of the time.
    gc.disable()
    environment = require(stack, file)
    scenario = scenario_of(environment, None if wait is None else 60 * wait)
    if not scenario.onprem and not scenario.pools:
        typer.echo(f"landbridge: {environment.name} has no GPU, on-prem or in AWS", err=True)
        raise typer.Exit(2)
    try:
        tasks = simulated_jobs(read(queue), scenario.policy, AccountMapping(restricted, sample, limit_factor))
    except TraceError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    if not tasks:
        typer.echo(f"landbridge: --sample {sample} leaves no job of {queue}", err=True)
        raise typer.Exit(2)
    without, bursting = _played(scenario, tasks)
    if picture is not None:
        from landbridge.simulation.chart import picture as drawn

        picture.write_text(drawn(scenario, bursting, without), encoding="utf-8")
    simulation = report(scenario, bursting, without)
    if form is Format.JSON:
        print_json(simulation.as_data())
    else:
        _text(simulation)


def _played(scenario: "Scenario", tasks: "Sequence[SimulatedJob]") -> tuple["SimulationResult", "SimulationResult"]:
    """Run both simulations in parallel, with a progress bar for the longer one on a terminal."""
    from landbridge.simulation.replay import replay
    from landbridge.simulation.worker_process import start_replay_without_bursting

    result_without_bursting = start_replay_without_bursting(scenario, tasks)
    if not sys.stderr.isatty():
        bursting = replay(scenario, tasks)
        return result_without_bursting(), bursting
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("replaying", total=len(tasks))
        bursting = replay(scenario, tasks, progress=lambda done: bars.update(bar, completed=done))
    return result_without_bursting(), bursting


def _text(simulation: "SimulationReport") -> None:
    from landbridge.simulation.report import ASSUMPTIONS

    echo = typer.echo
    echo(
        f"{simulation.environment}: {simulation.jobs:,} jobs, {simulation.onprem_gpus} GPUs on-prem, up to {simulation.cloud_gpus} in AWS"
    )
    echo(f"\n{'hours of waiting':24}{'mean':>10}{'p50':>10}{'p95':>10}{'longest':>10}   until all had run")
    for words, waits, days in (
        ("with bursting", simulation.waits, simulation.days),
        ("without", simulation.waits_without, simulation.days_without),
    ):
        hours = "".join(f"{_hours(value):>10}" for value in (waits.mean, waits.p50, waits.p95, waits.longest))
        echo(f"  {words:22}{hours}   {days:,.0f} days")
    echo(
        f"\n{'GPU hours of jobs':24}{simulation.gpu_hours_onprem:>14,.0f} on-prem{simulation.gpu_hours_aws:>14,.0f} in AWS"
    )
    echo(f"{'jobs that ran in AWS':24}{simulation.burst_jobs:>14,}")
    if simulation.never:
        echo(f"{'jobs that fit no node':24}{simulation.never:>14,}")
    for code, jobs in simulation.refused.items():
        echo(f"{'refused: ' + code:24}{jobs:>14,} jobs")
    for pool, nodes in simulation.peak_nodes.items():
        hours = f"{simulation.node_hours_aws.get(pool, 0.0):,.0f}"
        echo(
            f"{'pool ' + pool:24}{nodes:>14} nodes at once, {simulation.launches[pool]:,} launched, {hours} node hours"
        )
    echo(f"\n{'spent in AWS, US dollars':24}{simulation.usd:>14,.0f}")
    for item in simulation.spent:
        echo(f"  {item.month}  {item.account or '(kept nodes)':14}{item.pool:12}{item.usd:>10,.0f}")
    echo("\nassumed: " + ";\n  ".join(ASSUMPTIONS))


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.2f}" if seconds < 36_000 else f"{seconds / 3600:,.0f}"
