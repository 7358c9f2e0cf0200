"""Command `landbridge health step`: one pass of observation, decision and repair."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Stack, TimerMetrics, environment_path, require
from landbridge.cli.health.queries import opened
from landbridge.cli.health.repairs import repairs_of

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.gpu_health.observe import SiteObservation
    from landbridge.ops.scontrol import Scontrol

Run = Annotated[bool, typer.Option("--run", help="Carry out the actions; without it they are only printed.")]
Thresholds = Annotated[
    Path | None, typer.Option("--thresholds", help="YAML file with thresholds of the site, as for landbridge validate.")
]
#: Passes of one command: each step of a repair is one, and a repair has at most eight.
_MOST_PASSES = 16


def register(health: typer.Typer) -> None:
    """Add the command."""
    health.command()(step)


def step(
    stack: Stack = None,
    file: File = None,
    run: Run = False,
    thresholds: Thresholds = None,
    metrics: TimerMetrics = None,
) -> None:
    """Observe all nodes; print or carry out the actions. Exit status 1 if a node did not answer."""
    from landbridge.catalog.hardware.gpu_health import gpu_health
    from landbridge.cli.node.common import scontrol_of
    from landbridge.ops.gpu_health.act import carry_out
    from landbridge.ops.gpu_health.journal import (
        HealthJournalError,
        action_texts,
        append_changes,
        changes,
        locked,
        save_journal,
    )
    from landbridge.ops.gpu_health.machine import advance
    from landbridge.ops.gpu_health.values import RepairResult
    from landbridge.ops.timer_metrics import health_samples, write_timer
    from landbridge.plan.site.health import failure_budget

    environment, path = require(stack, file), environment_path(stack, file)
    folder, _ = opened(environment)
    scontrol = scontrol_of(stack, file)
    repairs = repairs_of(environment, path, folder, thresholds)
    results: tuple[RepairResult, ...] = ()
    silent: tuple[str, ...] = ()
    try:
        with locked(folder):
            for _ in range(_MOST_PASSES):
                observed = _observed(environment, scontrol)
                silent = observed.silent
                _, before = opened(environment)
                after, actions = advance(
                    before,
                    observed.views,
                    observed.observations,
                    results,
                    gpu_health(),
                    failure_budget(environment),
                    time.time(),
                )
                for change in changes(before, after):
                    typer.echo(f"{change['node']}: {change['from']} -> {change['to']} {change['detail']}".rstrip())
                for text in action_texts(actions):
                    typer.echo(f"  {text}")
                if not run:
                    break
                # Before the actions: a pass that is interrupted in them is continued by the next one.
                save_journal(folder, after)
                append_changes(folder, before, after, time.time())
                results = carry_out(actions, scontrol, repairs)
                for result in results:
                    typer.echo(f"  {result.node} {result.step}: {_outcome(result.ok)} {result.detail}".rstrip())
                if not actions:
                    break
    except HealthJournalError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    write_timer(metrics, environment, "health", time.time(), len(silent), health_samples(opened(environment)[1]))
    for name in silent:
        typer.echo(f"{name}: did not answer; its GPUs were not observed", err=True)
    raise typer.Exit(1 if silent else 0)


def _outcome(ok: bool | None) -> str:
    return {True: "succeeded", False: "failed", None: "was not run"}[ok]


def _observed(environment: "Environment", scontrol: "Scontrol") -> "SiteObservation":
    """Return the observation; exit with status 2 if Slurm does not answer."""
    from landbridge import hostlist
    from landbridge.ops.gpu_health.observe import observe, site_nodes
    from landbridge.ops.scontrol import ScontrolError, show_nodes

    names = [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    try:
        return observe(show_nodes(scontrol), names, site_nodes(environment, names))
    except ScontrolError as error:
        typer.echo(f"landbridge: {error.args[0]}", err=True)
        raise typer.Exit(2) from None
