"""Command `landbridge cost tag`: tags with the cost of their jobs on runs in MLflow."""

import os
import time
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack, TimerMetrics, exit_code, mlflow_password, print_findings, require
from landbridge.cli.cost.job_records import Events, Grid, Journal, Ledger, Sacct, Statistics, read_records

Server = Annotated[
    str, typer.Option("--tracking-uri", metavar="URI", envvar="MLFLOW_TRACKING_URI", help="MLflow server.")
]
Days = Annotated[int, typer.Option("--days", min=1, max=400, help="Runs that ended in these last days.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tag)


def tag(
    tracking_uri: Server,
    stack: Stack = None,
    file: File = None,
    days: Days = 35,
    sacct: Sacct = None,
    events: Events = None,
    journal: Journal = None,
    statistics: Statistics = None,
    ledger: Ledger = None,
    grid: Grid = None,
    metrics: TimerMetrics = None,
) -> None:
    """Set the costs of ended jobs as tags of MLflow's runs.

    The tags are cost.usd, cost.kwh and cost.co2e. With --metrics, the times until the first training step, by the tag
    landbridge.first_step of the runs, are written too.

    A run is that of a job by its tags landbridge.cluster and landbridge.job_id. A second run of the command changes
    nothing. The account is in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, the CA in
    MLFLOW_TRACKING_SERVER_CERT_PATH. Example: landbridge cost tag -s hybrid --tracking-uri https://mlops01:5000
    """
    from landbridge.catalog.observability.objectives import service_objectives
    from landbridge.economics.job_costs.first_steps import FIRST_STEP_TAG, first_step_metrics, first_step_seconds
    from landbridge.economics.job_costs.run_tags import changed_tags, job_tags
    from landbridge.economics.job_costs.statement import months_of, statement
    from landbridge.live.tracked_runs import RunServer, TrackingError
    from landbridge.ops.timer_metrics import timer_of, write_timer
    from landbridge.timestamps import month_end, month_of, month_start

    environment = require(stack, file)
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid)
    now = time.time()
    secret = mlflow_password()
    authority = os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH")
    server = RunServer(
        tracking_uri, os.environ.get("MLFLOW_TRACKING_USERNAME"), secret, authority, os.environ.get("MLFLOW_WORKSPACE")
    )
    try:
        runs = list(server.ended_runs(environment.name, now - days * 86_400))
        jobs = {run.job for run in runs}
        statements = [statement(environment, records, month, now) for month in months_of(records, jobs, now)]
        tags, changed = job_tags(statements, jobs), 0
        for run in runs:
            new = changed_tags(tags.get(run.job, {}), run.tags)
            if new:
                server.set_tags(run.id, new)
                changed += 1
    except TrackingError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    findings = tuple(dict.fromkeys(finding for each in statements for finding in each.findings))
    print_findings(findings)
    steps = [(run.job, run.tags[FIRST_STEP_TAG]) for run in runs if FIRST_STEP_TAG in run.tags]
    month = month_start(month_of(now))
    seconds = list(first_step_seconds(steps, records.allocations, month, month_end(month)))
    more = first_step_metrics(seconds, service_objectives().bounds, timer_of(metrics, "cost"))
    write_timer(metrics, environment, "cost", time.time(), 0, {}, more)
    typer.echo(f"{len(runs)} runs of {len(jobs)} jobs: {changed} changed, {len(jobs - set(tags))} jobs without a cost")
    raise typer.Exit(exit_code(findings))
