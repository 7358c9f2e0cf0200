"""Commands `landbridge cost job`, `user`, `account` and `month`: what jobs have cost, with idle and lost time."""

import csv
import sys
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Stack, exit_code, print_findings, print_json, require
from landbridge.cli.cost.job_records import Events, Grid, Journal, Ledger, Sacct, Statistics, read_records
from landbridge.cli.cost.statement_files import write_metrics_file, write_page

if TYPE_CHECKING:
    from landbridge.economics.job_costs.lines import LineKey, MonthStatement
    from landbridge.economics.job_costs.statement import Records
    from landbridge.economics.job_costs.sums import UseSum
    from landbridge.environment import Environment


class StatementFormat(StrEnum):
    """Output format of a statement."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    FOCUS = "focus"


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
        "--metrics", metavar="FILE", help="Write waits, recoveries and GPU time for node exporter's text files."
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
    _show(environment, records, months, chosen, form, f"job {number}")


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
    _show(environment, records, [chosen_month], of_user(name), form, f"user {name}", page, name)


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
    _show(environment, records, [chosen_month], of_account(name), form, f"account {name}")


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
    _show(environment, records, [chosen_month], lambda _: True, form, "all", page)


def _month(text: str | None) -> str:
    from landbridge.timestamps import month_of, month_start

    if text is None:
        return month_of(time.time())
    try:
        return month_of(month_start(text))
    except ValueError:
        raise typer.BadParameter(f"{text} is no month, such as 2026-11") from None


def _show(
    environment: "Environment",
    records: "Records",
    months: Sequence[str],
    chosen: "Callable[[LineKey], bool]",
    form: StatementFormat,
    subject: str,
    page: Path | None = None,
    user: str | None = None,
) -> None:
    from landbridge.economics.job_costs.statement import statement

    now = time.time()
    whole = [statement(environment, records, each, now) for each in months]
    chosen_statements = [each.only(chosen) for each in whole]
    findings = tuple(dict.fromkeys(finding for each in chosen_statements for finding in each.findings))
    print_findings(findings)
    if page is not None:
        write_page(environment, records, chosen_statements[0], page, user)
    match form:
        case StatementFormat.JSON:
            print_json(_as_data(environment, subject, chosen_statements))
        case StatementFormat.CSV:
            _csv(_flat(chosen_statements))
        case StatementFormat.FOCUS:
            from landbridge.economics.job_costs.focus import focus_rows

            _csv([row for each in chosen_statements for row in focus_rows(environment, each)])
        case _:
            _text(environment, subject, chosen_statements)
    raise typer.Exit(exit_code(findings))


def _as_data(environment: "Environment", subject: str, chosen_statements: "Sequence[MonthStatement]") -> dict[str, Any]:
    """Return the statements as plain data; dollars are texts with six digits, without binary errors."""
    from landbridge.economics.job_costs.money import decimal_of

    return {
        "environment": environment.name,
        "subject": subject,
        "time_zone": "UTC",
        "usd": str(sum((each.usd for each in chosen_statements), Decimal(0))),
        "months": [
            {
                "month": each.month,
                "bill_usd": {
                    "owned": str(decimal_of(each.bill.owned)),
                    "journal": str(decimal_of(each.bill.journal)),
                    "transfers": str(decimal_of(each.bill.transfers)),
                    "all": str(decimal_of(each.bill.usd)),
                },
                "notes": list(each.notes),
            }
            for each in chosen_statements
        ],
        "lines": _flat(chosen_statements),
    }


def _flat(chosen_statements: "Sequence[MonthStatement]") -> list[dict[str, Any]]:
    from dataclasses import asdict

    rows = []
    for each in chosen_statements:
        for line in each.lines:
            values = asdict(line)
            rows.append({**values.pop("key"), **values, "usd": str(line.usd)})
    return rows


def _csv(rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as CSV (RFC 4180); a value that is not known is empty."""
    if rows:
        out = csv.DictWriter(sys.stdout, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def _text(environment: "Environment", subject: str, chosen_statements: "Sequence[MonthStatement]") -> None:
    from landbridge.economics.job_costs.money import decimal_of
    from landbridge.economics.job_costs.sums import by_job, in_cents, sums

    lines = [line for each in chosen_statements for line in each.lines]
    rows = sums(lines, by_job)
    table = [
        ["job", "use", "site", "instrument", "user", "account", "node-hours", "GPU-hours", "kWh", "kg CO2e", "USD"]
    ]
    amounts = in_cents(rows)
    table += [[*each.group, *_numbers(each), f"{usd:,.2f}"] for each, usd in zip(rows, amounts, strict=True)]
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    for row in table:
        cells = [
            cell.ljust(width) if at < 6 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())
    span = (
        chosen_statements[0].month
        if len(chosen_statements) == 1
        else f"{chosen_statements[0].month} to {chosen_statements[-1].month}"
    )
    typer.echo(f"{environment.name}, {subject}, {span} (UTC): {sum(amounts):,.2f} USD")
    if subject == "all":
        bill = chosen_statements[0].bill
        parts = {"owned nodes": bill.owned, "burst journal": bill.journal, "transfers": bill.transfers}
        listed = ", ".join(f"{name} {decimal_of(usd, 2):,.2f}" for name, usd in parts.items())
        typer.echo(f"bill: {decimal_of(bill.usd, 2):,.2f} USD: {listed}")
    for note in dict.fromkeys(note for each in chosen_statements for note in each.notes):
        typer.echo(f"note: {note}", err=True)


def _numbers(row: "UseSum") -> list[str]:
    """Return hours, energy and emissions; measured energy has a star."""
    star = "*" if any(origin.startswith("measured") for origin in row.energy) else ""
    kwh = "unknown" if row.energy == {"unknown"} else f"{row.kwh:,.1f}{star}"
    return [
        f"{row.node_hours:,.1f}",
        f"{row.gpu_hours:,.1f}",
        kwh,
        f"{row.co2e_kg:,.1f}" if row.has_co2e else "unknown",
    ]
