"""Commands `landbridge cost experiment` and `predictions`: what an experiment and 1,000 predictions have cost."""

import os
import time
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, print_findings, print_json, require
from landbridge.cli.cost.job_records import Events, Grid, Journal, Ledger, Sacct, Statistics, read_records

Server = Annotated[
    str, typer.Option("--tracking-uri", metavar="URI", envvar="MLFLOW_TRACKING_URI", help="MLflow server.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(experiment)
    app.command()(predictions)


def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Experiment in MLflow.")],
    tracking_uri: Server,
    stack: Stack = None,
    file: File = None,
    sacct: Sacct = None,
    events: Events = None,
    journal: Journal = None,
    statistics: Statistics = None,
    ledger: Ledger = None,
    grid: Grid = None,
    tag: Annotated[bool, typer.Option("--tag", help="Set the cost as tags of the experiment too.")] = False,
    form: Form = Format.TEXT,
) -> None:
    """Show what the jobs of an experiment have cost.

    A job with several runs counts once. Example: landbridge cost experiment digits -s hybrid --tracking-uri https://mlops01:5000
    """
    from landbridge.economics.job_costs.experiments import experiment_cost
    from landbridge.economics.job_costs.statement import months_of, statement
    from landbridge.live.tracked_runs import RunServer, TrackingError

    environment = require(stack, file)
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid)
    secret, authority = os.environ.get("MLFLOW_TRACKING_PASSWORD"), os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH")
    server = RunServer(
        tracking_uri, os.environ.get("MLFLOW_TRACKING_USERNAME"), secret, authority, os.environ.get("MLFLOW_WORKSPACE")
    )
    now = time.time()
    try:
        runs = {run.id: run.job for run in server.experiment_runs(environment.name, name)}
        months = months_of(records, set(runs.values()), now)
        statements = [statement(environment, records, month, now) for month in months]
        cost = experiment_cost(statements, runs)
        if tag:
            server.tag_experiment(name, cost.tags())
    except TrackingError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    findings = tuple(dict.fromkeys(finding for each in statements for finding in each.findings))
    print_findings(findings)
    if form is Format.JSON:
        print_json(
            {
                "experiment": name,
                "runs": cost.runs,
                "jobs": cost.jobs,
                "without_cost": cost.without_cost,
                "usd": str(cost.usd),
                "kwh": cost.kwh,
                "co2e_kg": cost.co2e_kg,
            }
        )
    else:
        typer.echo(
            f"{name}: {cost.usd:,.2f} USD, {_number(cost.kwh)} kWh, {_number(cost.co2e_kg)} kg CO2e, {cost.runs} runs of {cost.jobs} jobs"
        )
        if cost.without_cost:
            typer.echo(f"{len(cost.without_cost)} jobs without a cost: {', '.join(map(str, cost.without_cost))}")
    raise typer.Exit(exit_code(findings))


def predictions(
    count: Annotated[int, typer.Argument(metavar="COUNT", min=1, help="Predictions of the service.")],
    node: Annotated[str, typer.Option("--node", help="Node of the service, by its Slurm name.")],
    hours: Annotated[float, typer.Option("--hours", min=0.001, help="Hours for which the service ran.")],
    stack: Stack = None,
    file: File = None,
    share: Annotated[
        float, typer.Option("--share", min=0.001, max=1, help="Share of the node that the service uses, from 0 to 1.")
    ] = 1.0,
    grid: Grid = None,
    form: Form = Format.TEXT,
) -> None:
    """Show what 1,000 predictions of a service cost.

    The share of its node for the hours, at the rate of the bill, with energy and emissions. Example: landbridge cost predictions
    2000000 --node gpu001 --hours 24 --share 0.125 -s hybrid
    """
    from landbridge.economics.job_costs.experiments import prediction_cost

    cost = prediction_cost(require(stack, file), node, hours, share, count, grid)
    if form is Format.JSON:
        print_json(
            {
                "usd_1000": None if cost.usd is None else float(cost.usd),
                "kwh_1000": cost.kwh,
                "co2e_kg_1000": cost.co2e_kg,
                "basis": cost.basis,
                "tags": cost.tags(),
            }
        )
    else:
        usd = "unknown" if cost.usd is None else f"{float(cost.usd):.6f}"
        typer.echo(
            f"1,000 predictions: {usd} USD, {_number(cost.kwh)} kWh, {_number(cost.co2e_kg)} kg CO2e ({cost.basis})"
        )
    raise typer.Exit(1 if cost.usd is None else 0)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.6g}"
