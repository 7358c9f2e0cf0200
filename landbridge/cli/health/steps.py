"""Command `landbridge health step`: one pass of observation, decision and repair."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Stack, environment_path, require
from landbridge.cli.health.queries import opened

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.gpu_health.act import Repairs
    from landbridge.ops.gpu_health.observe import SiteObservation
    from landbridge.ops.gpu_health.values import HealthAction
    from landbridge.ops.scontrol import Scontrol

Run = Annotated[bool, typer.Option("--run", help="Carry out the actions; without it they are only printed.")]
Thresholds = Annotated[
    Path | None, typer.Option("--thresholds", help="YAML file with thresholds of the site, as for landbridge validate.")
]
PLAYBOOK = Path("ansible/playbooks/repair_node.yml")
#: Passes of one command: each step of a repair is one, and a repair has at most eight.
_MOST_PASSES = 16


def register(health: typer.Typer) -> None:
    """Add the command."""
    health.command()(step)


def step(stack: Stack = None, file: File = None, run: Run = False, thresholds: Thresholds = None) -> None:
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
    from landbridge.plan.site.health import failure_budget

    environment, path = require(stack, file), environment_path(stack, file)
    folder, _ = opened(environment)
    scontrol = scontrol_of(stack, file)
    repairs = _repairs(environment, path, folder, thresholds)
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
    for name in silent:
        typer.echo(f"{name}: did not answer; its GPUs were not observed", err=True)
    raise typer.Exit(1 if silent else 0)


def _outcome(ok: bool | None) -> str:
    return {True: "succeeded", False: "failed", None: "was not run"}[ok]


def _observed(environment: "Environment", scontrol: "Scontrol") -> "SiteObservation":
    """Return the observation; exit with status 2 if Slurm does not answer."""
    from landbridge import hostlist
    from landbridge.ops.gpu_health.observe import observe, over_ssh
    from landbridge.ops.scontrol import ScontrolError, show_nodes, ssh
    from landbridge.plan.network.hosts import service_hosts

    names = [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    privileged = service_hosts(environment).access.user != "root"
    on_node = over_ssh({name: ssh(environment, name) for name in names}, privileged)
    try:
        return observe(show_nodes(scontrol), names, on_node)
    except ScontrolError as error:
        typer.echo(f"landbridge: {error.args[0]}", err=True)
        raise typer.Exit(2) from None


def _repairs(environment: "Environment", path: Path, folder: Path, thresholds: Path | None) -> "Repairs":
    from landbridge.cli.validate import site_thresholds
    from landbridge.ops.gpu_health.act import Repairs

    given = site_thresholds(thresholds)

    def play(action: "HealthAction") -> tuple[bool | None, str]:
        from landbridge.cli.display.configure import ConfigureDisplay
        from landbridge.realise import configure as realise

        variables = {"step": str(action.step), "gpus": ",".join(action.gpus)}
        with ConfigureDisplay(environment.name) as show:
            result = realise.configure(
                environment, path, show, playbook=PLAYBOOK, limit=action.node, variables=variables
            )
        return result.successful, "; ".join(failure.message for failure in result.failures)[:200]

    def retest(action: "HealthAction", reservation: str) -> tuple[bool | None, str]:
        from landbridge.acceptance.climb import Ladder, climb
        from landbridge.acceptance.rungs import PROGRAMS, RUNGS, AcceptanceSettings
        from landbridge.acceptance.runners import NodeRunner, srun_runner
        from landbridge.acceptance.site import environment_site
        from landbridge.catalog.hardware.gpu_health import gpu_health

        site = environment_site(environment, action.node)
        settings = AcceptanceSettings()
        runner = srun_runner(
            NodeRunner(
                site.ssh, site.privileged, site.gpus, settings, reservation=reservation, partition=site.partition
            )
        )
        rungs = (PROGRAMS, *(rung for rung in RUNGS if rung.name in gpu_health().rungs))
        report = climb(Ladder(site.name, site.platforms, runner, settings, given, rungs=rungs))
        (folder / f"retest-{action.node}.json").write_text(json.dumps(report.json(), indent=1, default=str) + "\n")
        failures = [f"{outcome.rung} {outcome.status} {outcome.message}".strip() for outcome in report.outcomes]
        detail = "; ".join(text for text in failures if " passed" not in text)[:200]
        return {"passed": True, "failed": False}.get(report.status), detail

    return Repairs(play, retest)
