"""Command `landbridge cost jobs`: what jobs have cost, with idle and lost time."""

import time
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack, require
from landbridge.cli.cost.job_records import FIRST_DAY, Events, Grid, Journal, Ledger, Sacct, Statistics, read_records
from landbridge.cli.cost.statement_files import write_metrics_file
from landbridge.cli.cost.statement_output import StatementFormat, StatementGroup, show_statements

By = Annotated[StatementGroup, typer.Option("--by", help="Rows of the table; other formats have each line.")]
Job = Annotated[
    str | None,
    typer.Option("--job", metavar="ID", help="Only this job, in all its months: 12, 12_3, or 12 for a whole array."),
]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Only jobs of this user.")]
Account = Annotated[
    str | None,
    typer.Option(
        "--account", metavar="NAME", help="Only this account, with the boot and idle time in AWS that it pays."
    ),
]
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
Page = Annotated[
    Path | None,
    typer.Option(
        "--page", metavar="FILE", help="Write an HTML page too; with --user, its file is readable by its owner alone."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(jobs)


def jobs(
    stack: Stack = None,
    file: File = None,
    month: Month = None,
    by: By = StatementGroup.JOB,
    job: Job = None,
    user: User = None,
    account: Account = None,
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
    """Show a month's bill by jobs, or the cost of one job.

    With a user or an account, only their jobs are shown.

    The bill is all hours of the owned nodes, and the spending of the burst journal. A job pays its share of the GPUs of its
    nodes at the rate of their site, with each run and the boot of its nodes. On a login host, Slurm gives a user the jobs that
    PrivateData allows: their own.

    Example: landbridge cost jobs -s hybrid --month 2026-11 --by account
    """
    from landbridge.economics.job_costs.statement import months_of
    from landbridge.economics.job_costs.sums import is_job, of_account, of_job, of_user

    _refuse_options(month, job, user, account, page, metrics)
    environment = require(stack, file)
    chosen_month = _month(month)
    since = FIRST_DAY if job is not None else f"{chosen_month}-01"
    records = read_records(environment, sacct, events, journal, statistics, ledger, grid, since)
    if job is not None:
        numbers = {each.job for each in records.allocations if is_job(job, each.job, each.name)}
        months = months_of(records, {*numbers, *([int(job)] if job.isdigit() else [])}, time.time())
        if not months:
            typer.echo(f"landbridge: neither accounting nor the journal has a job {job}", err=True)
            raise typer.Exit(1)
        show_statements(environment, records, months, of_job(job), form, f"job {job}", by)
    elif user is not None:
        show_statements(environment, records, [chosen_month], of_user(user), form, f"user {user}", by, page, user)
    elif account is not None:
        show_statements(environment, records, [chosen_month], of_account(account), form, f"account {account}", by)
    else:
        if metrics is not None:
            write_metrics_file(environment, records, chosen_month, metrics)
        show_statements(environment, records, [chosen_month], lambda _: True, form, "all", by, page)


def _refuse_options(
    month: str | None, job: str | None, user: str | None, account: str | None, page: Path | None, metrics: Path | None
) -> None:
    """Refuse options that do not go together. Raises BadParameter."""
    chosen = [name for name, value in (("--job", job), ("--user", user), ("--account", account)) if value is not None]
    if len(chosen) > 1:
        raise typer.BadParameter(f"give one of {', '.join(chosen)}")
    if job is not None and month is not None:
        raise typer.BadParameter("--job shows all months of a job; leave out --month")
    if page is not None and (job is not None or account is not None):
        raise typer.BadParameter(f"--page has all jobs, or those of --user; leave out {chosen[0]}")
    if metrics is not None and chosen:
        raise typer.BadParameter(f"--metrics has all jobs; leave out {chosen[0]}")


def _month(text: str | None) -> str:
    from landbridge.timestamps import month_of, month_start

    if text is None:
        return month_of(time.time())
    try:
        return month_of(month_start(text))
    except ValueError:
        raise typer.BadParameter(f"{text} is not a month, such as 2026-11") from None
