"""Commands `landbridge sagemaker list`, `stop` and `sync`."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from landbridge.cli.common import File, Format, Stack, TimerMetrics, print_json, require
from landbridge.cli.sagemaker.common import ConfigFile, Form, JobName, connect, refusals

if TYPE_CHECKING:
    from landbridge.burst.model import TrainingJob


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_jobs)
    group.command()(stop)
    group.command()(sync)


def list_jobs(config: ConfigFile = None, form: Form = Format.TEXT) -> None:
    """List training jobs, and the budget that they use.

    Example: landbridge sagemaker list
    """
    from landbridge.burst.reconcile.training_jobs import committed_by_account
    from landbridge.cli.burst.common import controller

    with controller(config) as (_, store):
        state = store.load()
    jobs = sorted(state.training_jobs.values(), key=lambda job: (job.created_at, job.name))
    money = committed_by_account(state, time.time())
    if form is Format.JSON:
        accounts = {account: {"spent_usd": spent, "held_usd": held} for account, (spent, held) in money.items()}
        print_json({"jobs": [{**asdict(job), "held_usd": job.held_usd} for job in jobs], "accounts": accounts})
        return
    for job in jobs:
        typer.echo(_line(job))
    for account, (spent, held) in money.items():
        typer.echo(f"account {account}: {spent:,.2f} USD spent this month, {held:,.2f} held")


def stop(name: JobName, stack: Stack = None, file: File = None, config: ConfigFile = None) -> None:
    """Stop a training job. `sync` charges what it cost.

    Example: landbridge sagemaker stop acme-train-5f3a90c1d2e4 -s acme
    """
    from landbridge.burst.operator import training_jobs
    from landbridge.cli.burst.common import controller

    environment = require(stack, file)
    with controller(config) as (_, store), refusals():
        job = training_jobs.stop(store, name, lambda: connect(environment), time.time())
    typer.echo(_line(job))


def sync(
    stack: Stack = None,
    file: File = None,
    config: ConfigFile = None,
    form: Form = Format.TEXT,
    metrics: TimerMetrics = None,
) -> None:
    """Compare the journal with SageMaker, and charge ended jobs.

    A job that AWS does not have is released, and one that only AWS has is added by its tags. Repeating it changes nothing. A timer
    (observability.timers) runs it every five minutes. Example: landbridge sagemaker sync -s acme
    """
    from landbridge.burst.operator import training_jobs
    from landbridge.cli.burst.common import controller
    from landbridge.ops.timer_metrics import write_timer
    from landbridge.plan.training.instances import training_usd_hour

    environment = require(stack, file)
    with controller(config) as (burst_config, store), refusals():
        compared = list(
            training_jobs.compare(
                store,
                burst_config.policy,
                lambda: connect(environment),
                lambda kind: training_usd_hour(environment, kind),
                time.time(),
            )
        )
    write_timer(metrics, environment, "sagemaker", time.time(), 0, {})
    if form is Format.JSON:
        print_json([asdict(item) for item in compared])
        return
    for item in compared:
        typer.echo(f"{item.name:<40} {item.result:<10} {item.text}".rstrip())


def _line(job: "TrainingJob") -> str:
    money = f"{job.usd:,.2f} USD" if job.ended is not None else f"{job.held_usd:,.2f} USD held"
    status = job.status or "reserved"
    market = "spot" if job.spot else "on-demand"
    return f"{job.name:<40} {status:<10} {job.nodes} x {job.instance_type} {market}  {job.account} {job.user}  {money}"
