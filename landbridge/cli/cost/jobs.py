"""Commands `landbridge cost job`, `user`, `account` and `month`: what jobs have cost, with idle and lost time."""

import time
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack, require
from landbridge.cli.cost.job_records import Events, Grid, Journal, Ledger, Sacct, Statistics, read_records
from landbridge.cli.cost.statement_files import write_metrics_file
from landbridge.cli.cost.statement_output import StatementFormat, show_statements

Form = Annotated[
    StatementFormat,
    typer.Option("--format", help="Output format: text; json and csv for programs; focus: FOCUS 1.2 as CSV."),
]
Month = Annotated[
    str | None, typer.Option("--month", metavar="YYYY-MM", help="Month in UTC; default: the present one.")
]
MetricsFile = Annotated[
    Path | None,
    typer.Option(
        "--metrics",
        metavar="FILE",
        help="Write waits, recoveries and GPU time to this file, for node exporter's textfile collector.",
    ),
]
Page = Annotated[Path | None, typer.Option("--page", metavar="FILE", help="Write the statement as an HTML page too.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (job, user, account, month):
        app.command()(command)


def job(
    number: Annotated[str, typer.Argument(metavar="ID", help="Slurm's id: 12, 12_3, or 12 for a whole array.")],
    stack: Stack = None,
    file: File = None,
    sacct: Sacct = None,
    events: Events = None,
    journal: Journal = None,
    statistics: Statistics = None,
    ledger: Ledger = None,
    grid: Grid = None,
    form: Form = StatementFormat.TEXT,
) -> None:
    """Show what a job has cost, in all months in which it ran.

    Its share of the GPUs of its nodes at the rate of their site, with each run and the boot of its nodes. Example:
    landbridge cost job 4711 -s hybrid
    """
    from landbridge.economics.job_costs.statement import months_of
    from landbridge.economics.job_costs.sums import is_job, of_job

    environment = require(stack, file)
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid)
    chosen = of_job(number)
    jobs = {each.job for each in records.allocations if is_job(number, each.job, each.name)}
    months = months_of(records, {*jobs, *([int(number)] if number.isdigit() else [])}, time.time())
    if not months:
        typer.echo(f"landbridge: neither accounting nor the journal has a job {number}", err=True)
        raise typer.Exit(1)
    show_statements(environment, records, months, chosen, form, f"job {number}")


def user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="User of the jobs.")],
    stack: Stack = None,
    file: File = None,
    month: Month = None,
    sacct: Sacct = None,
    events: Events = None,
    journal: Journal = None,
    statistics: Statistics = None,
    ledger: Ledger = None,
    grid: Grid = None,
    form: Form = StatementFormat.TEXT,
    page: Page = None,
) -> None:
    """Show what the jobs of a user have cost in a month.

    The page of --page has this user's lines only, and its file is readable by its owner alone. On a login host, Slurm gives a
    user the jobs that PrivateData allows: their own.

    Example: landbridge cost user ann -s hybrid --month 2026-11
    """
    from landbridge.economics.job_costs.sums import of_user

    environment = require(stack, file)
    chosen_month = _month(month)
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid, f"{chosen_month}-01")
    show_statements(environment, records, [chosen_month], of_user(name), form, f"user {name}", page, name)


def account(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Slurm account.")],
    stack: Stack = None,
    file: File = None,
    month: Month = None,
    sacct: Sacct = None,
    events: Events = None,
    journal: Journal = None,
    statistics: Statistics = None,
    ledger: Ledger = None,
    grid: Grid = None,
    form: Form = StatementFormat.TEXT,
) -> None:
    """Show what an account has cost in a month.

    Its jobs, and the boot and idle time in AWS that it pays.

    Example: landbridge cost account vision -s hybrid --month 2026-11
    """
    from landbridge.economics.job_costs.sums import of_account

    environment = require(stack, file)
    chosen_month = _month(month)
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid, f"{chosen_month}-01")
    show_statements(environment, records, [chosen_month], of_account(name), form, f"account {name}")


def month(
    name: Annotated[str, typer.Argument(metavar="YYYY-MM", help="Month in UTC.")],
    stack: Stack = None,
    file: File = None,
    sacct: Sacct = None,
    events: Events = None,
    journal: Journal = None,
    statistics: Statistics = None,
    ledger: Ledger = None,
    grid: Grid = None,
    form: Form = StatementFormat.TEXT,
    page: Page = None,
    metrics: MetricsFile = None,
) -> None:
    """Show the bill of a month by jobs, idle and lost time.

    The bill is all hours of the owned nodes, and the spending of the burst journal. Example: landbridge cost month
    2026-11 -s hybrid --format focus
    """
    environment = require(stack, file)
    chosen_month = _month(name)
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid, f"{chosen_month}-01")
    if metrics is not None:
        write_metrics_file(environment, records, chosen_month, metrics)
    show_statements(environment, records, [chosen_month], lambda _: True, form, "all", page)


def _month(text: str | None) -> str:
    from landbridge.timestamps import month_of, month_start

    if text is None:
        return month_of(time.time())
    try:
        return month_of(month_start(text))
    except ValueError:
        raise typer.BadParameter(f"{text} is not a month, such as 2026-11") from None
