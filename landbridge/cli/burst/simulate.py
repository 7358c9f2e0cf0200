"""Command `landbridge burst simulate`: replay a job history against an environment. Runs on any machine without network
access.
"""

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require, require_trace

if TYPE_CHECKING:
    from landbridge.simulation.conditions import CapacityStep
    from landbridge.simulation.scenario import Scenario

Queue = Annotated[
    Path,
    typer.Argument(help="CSV with a header, output of sacct, a list in JSON, or `squeue --json`."),
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
Kinds = Annotated[bool, typer.Option("--kinds", help="A job runs only on GPUs of the type that the trace has for it.")]
Capacity = Annotated[
    list[str] | None,
    typer.Option(
        metavar="POOL=NODES[@TIME]", help="Instances that AWS can launch for a pool, from a given time; repeatable."
    ),
]
Mtbf = Annotated[float | None, typer.Option(min=0.001, help="Mean hours between failures of one node, at either site.")]
Repair = Annotated[float, typer.Option(min=0, help="Hours until a failed on-prem node is up again.")]
SpotLoss = Annotated[float, typer.Option(min=0, help="Interruptions of one spot instance in an hour.")]
Checkpoint = Annotated[
    float | None,
    typer.Option(
        min=0.001, help="Minutes between checkpoints; without it, an interrupted job starts again from its beginning."
    ),
]
Restart = Annotated[float, typer.Option(min=0, help="Minutes that the restart of an interrupted job takes.")]
FairShare = Annotated[
    float | None,
    typer.Option(
        min=0.001, metavar="HOURS", help="Fair share of accounts and their users, with this half-life of usage."
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the random failures and interruptions.")]
Owned = Annotated[
    float | None,
    typer.Option(min=0, help="USD of one on-prem GPU for an hour, used or not: adds the cost of both sites."),
]
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
    owned_usd_gpu_hour: Owned = None,
    kinds: Kinds = False,
    aws_capacity: Capacity = None,
    mtbf_hours: Mtbf = None,
    repair_hours: Repair = 24.0,
    spot_interruptions_per_hour: SpotLoss = 0.0,
    checkpoint_minutes: Checkpoint = None,
    restart_minutes: Restart = 0.0,
    fair_share: FairShare = None,
    seed: Seed = 1,
    form: Form = Format.TEXT,
) -> None:
    """Replay a recorded job queue, with and without bursting. Prints waits, GPU hours, spend and refusals.

    Budgets, data classes and capacity of the environment apply, as on the controller. Example:
    landbridge burst simulate jobs.csv -s hybrid --picture jobs.svg
    """
    from landbridge.cli.burst.simulation_text import print_text
    from landbridge.cli.display.replays import replays
    from landbridge.simulation.conditions import Conditions
    from landbridge.simulation.mapping import AccountMapping, simulated_jobs
    from landbridge.simulation.report import report
    from landbridge.simulation.scenario import scenario_of

    # The replay creates no garbage with reference cycles, and the search for it would take a fifth of the time.
    gc.disable()
    environment = require(stack, file)
    scenario = scenario_of(environment, None if wait is None else 60 * wait, kinds=kinds)
    if not scenario.onprem and not scenario.pools:
        typer.echo(f"landbridge: {environment.name} has no GPU, on-prem or in AWS", err=True)
        raise typer.Exit(2)
    trace = require_trace(queue)
    tasks = simulated_jobs(trace.jobs, scenario.policy, AccountMapping(restricted, sample, limit_factor, kinds))
    del trace  # ten megabytes for 80,000 jobs
    if not tasks:
        typer.echo(f"landbridge: --sample {sample} leaves no job of {queue}", err=True)
        raise typer.Exit(2)
    conditions = Conditions(
        mtbf_hours=mtbf_hours,
        repair_hours=repair_hours,
        spot_interruptions=spot_interruptions_per_hour,
        checkpoint_seconds=None if checkpoint_minutes is None else 60 * checkpoint_minutes,
        restart_seconds=60 * restart_minutes,
        capacity=tuple(_capacity_step(text, scenario) for text in aws_capacity or ()),
        half_life_hours=fair_share,
        shares={name: float(account.fairshare) for name, account in environment.scheduler.accounts.items()},
        seed=seed,
    )
    without, bursting = replays(scenario, tasks, conditions)
    if picture is not None:
        from landbridge.simulation.chart import picture as drawn

        picture.write_text(drawn(scenario, bursting, without), encoding="utf-8")
    simulation = report(scenario, bursting, without, conditions, owned_usd_gpu_hour)
    if form is Format.JSON:
        print_json(simulation.as_data())
    else:
        print_text(simulation)


def _capacity_step(text: str, scenario: "Scenario") -> "CapacityStep":
    """Return the step of `POOL=NODES` or `POOL=NODES@TIME`."""
    from landbridge.simulation.conditions import CapacityStep
    from landbridge.timestamps import parse_iso

    pool, _, rest = text.partition("=")
    nodes, _, when = rest.partition("@")
    at = parse_iso(when) if when else None
    names = [known.name for known in scenario.pools]
    if pool not in names or not nodes.isdecimal() or (when and at is None):
        message = f"{text} is not POOL=NODES or POOL=NODES@TIME with a pool of {', '.join(names)}"
        raise typer.BadParameter(message, param_hint="--aws-capacity")
    return CapacityStep(pool, int(nodes), at)
