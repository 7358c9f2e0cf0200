"""Output of statements of jobs' costs: a table, JSON, CSV or FOCUS."""

import csv
import sys
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from landbridge.cli.common import exit_code, print_findings, print_json
from landbridge.cli.cost.statement_files import write_page

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


class StatementGroup(StrEnum):
    """Group of the rows of a table."""

    JOB = "job"
    USER = "user"
    ACCOUNT = "account"


def show_statements(
    environment: "Environment",
    records: "Records",
    months: Sequence[str],
    chosen: "Callable[[LineKey], bool]",
    form: StatementFormat,
    subject: str,
    by: StatementGroup,
    page: Path | None = None,
    user: str | None = None,
) -> None:
    """Print the statements of these months with the chosen lines, write their page, and end the command."""
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
            _text(environment, subject, chosen_statements, by)
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


def _text(
    environment: "Environment", subject: str, chosen_statements: "Sequence[MonthStatement]", by: StatementGroup
) -> None:
    from landbridge.economics.job_costs.money import decimal_of
    from landbridge.economics.job_costs.sums import COLUMNS, columns_of, in_cents, sums

    lines = [line for each in chosen_statements for line in each.lines]
    columns = COLUMNS[by]
    rows = sums(lines, columns_of(columns))
    table = [[*columns, "node-hours", "GPU-hours", "kWh", "kg CO2e", "USD"]]
    amounts = in_cents(rows)
    table += [[*each.group, *_numbers(each), f"{usd:,.2f}"] for each, usd in zip(rows, amounts, strict=True)]
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    for row in table:
        cells = [
            cell.ljust(width) if at < len(columns) else cell.rjust(width)
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
