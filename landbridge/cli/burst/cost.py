"""Command `landbridge burst cost`: the cost of instance-hours by job, account, user or pool."""

import csv
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.burst.common import ConfigFile, controller
from landbridge.cli.common import print_json

if TYPE_CHECKING:
    from landbridge.burst.model import BurstPolicy, Charge, State
    from landbridge.burst.operator.cost import CostLine, CostReport
    from landbridge.burst.slurm.accounting import AccountedJob

    Costs = tuple[State, list[Charge], dict[str, int]]


class CostGroup(StrEnum):
    """Grouping of the lines."""

    JOB = "job"
    ACCOUNT = "account"
    USER = "user"
    POOL = "pool"


class CostFormat(StrEnum):
    """Output format of the report."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


By = Annotated[CostGroup, typer.Option("--by", help="Group of the lines.")]
Since = Annotated[str | None, typer.Option(metavar="DAY", help="First day in UTC: 2026-11-01, or 30d ago.")]
Until = Annotated[str | None, typer.Option(metavar="DAY", help="Last day in UTC, included; default: today.")]
Journal = Annotated[
    Path | None,
    typer.Option(help="Folder of the journal's copy, instead of this host's journal. No settings file is needed."),
]
Form = Annotated[CostFormat, typer.Option("--format", help="Output format: text, or json and csv for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(cost)


def cost(
    by: By,
    since: Since = None,
    until: Until = None,
    journal: Journal = None,
    config: ConfigFile = None,
    form: Form = CostFormat.TEXT,
) -> None:
    """Show the cost of instance-hours. Jobs on a node share its cost; idle time and boot time have lines of their own.

    Reads the journal, also while the daemon runs, and sacct for users, partitions and states. Storage, network and
    other services are not included. Example: landbridge burst cost --by account --since 2026-11-01 --until 2026-11-30
    """
    from landbridge.burst.operator.cost import ALL_DAYS, CostBy, cost_report

    today = datetime.now(UTC)
    days = (_day(since, today, "--since", ALL_DAYS[0]), _day(until, today, "--until", ALL_DAYS[1]))
    state, charges, gpus = _from_copy(journal, config) if journal is not None else _from_journal(config)
    notes: list[str] = []
    jobs: dict[int, AccountedJob] = {}
    if by in (CostGroup.JOB, CostGroup.USER):
        ids = {charge.key.job for charge in charges if days[0] <= charge.key.day <= days[1]}
        ids |= {job for hold in state.holds.values() for job, *_ in hold.claims}
        jobs = _accounted(ids - {0}, notes)
    report = cost_report(state, charges, CostBy(by), jobs, gpus, time.time(), days)
    for item in report.unitemized:
        account, usd = item.account or "(no account)", f"{item.usd:,.2f}"
        notes.append(f"{item.month}: {usd} USD of account {account} in pool {item.pool} are in no line")
    if form is CostFormat.JSON:
        print_json(_json(report, notes))
        return
    if form is CostFormat.CSV:
        _csv(report)
    else:
        _text(report)
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _from_journal(config: Path | None) -> "Costs":
    with controller(config) as (burst_config, store):
        return *store.load_with_charges(), _gpus_of_policy(burst_config.policy)


def _from_copy(folder: Path, config: Path | None) -> "Costs":
    from landbridge.burst.config.config import ConfigError, load
    from landbridge.burst.journal.snapshot import read_snapshot, state_of

    try:
        copy = read_snapshot(folder)
    except (OSError, ValueError) as error:
        typer.echo(f"landbridge: {folder}: {error}", err=True)
        raise typer.Exit(2) from None
    charges = list(copy.charges)
    try:
        return state_of(copy), charges, _gpus_of_policy(load(config).policy)
    except ConfigError as error:
        if config is not None:
            typer.echo(f"landbridge: {error}", err=True)
            raise typer.Exit(2) from None
        return state_of(copy), charges, _gpus_of_catalogue({charge.key.instance_type for charge in charges})


def _gpus_of_policy(policy: "BurstPolicy") -> dict[str, int]:
    """Return the GPUs of each instance type by burst.json: a controller has no reader of the catalogue."""
    offerings = (offering for pool in policy.pools.values() for offering in pool.offerings)
    return {offering.instance_type: offering.gpus for offering in offerings if offering.gpus is not None}


def _gpus_of_catalogue(names: set[str]) -> dict[str, int]:
    from landbridge.catalog import instances

    kinds = {name: instances()[name].accelerators for name in names if name in instances()}
    return {name: kind.count if kind is not None and kind.kind == "gpu" else 0 for name, kind in kinds.items()}


def _accounted(ids: set[int], notes: list[str]) -> "dict[int, AccountedJob]":
    """Return what accounting has about jobs; without an answer, none and a note."""
    from landbridge.burst.slurm.accounting import accounted_jobs
    from landbridge.burst.slurm.slurm import SlurmError

    try:
        return accounted_jobs(ids)
    except SlurmError as error:
        notes.append(f"users, partitions and states are not known: {error}")
        return {}


def _day(text: str | None, now: datetime, option: str, default: str) -> str:
    """Return a day such as 2026-11-25."""
    if text is None:
        return default
    if text.endswith("d") and text[:-1].isdigit() and len(text) <= 6:
        return (now - timedelta(days=int(text[:-1]))).strftime("%Y-%m-%d")
    try:
        return datetime.strptime(text, "%Y-%m-%d").strftime("%Y-%m-%d")
    except ValueError:
        raise typer.BadParameter(f"{text} is neither a day (2026-11-25) nor 30d", param_hint=option) from None


def _rows(report: "CostReport") -> list[dict[str, Any]]:
    from landbridge.burst.operator.cost import COLUMNS, NUMBERS

    columns = (*COLUMNS[report.by], *NUMBERS)
    return [{name: values[name] for name in columns} for values in map(asdict, report.lines)]


def _json(report: "CostReport", notes: list[str]) -> dict[str, Any]:
    return {
        "by": report.by,
        "lines": _rows(report),
        "usd": report.usd,
        "running_usd": report.running_usd,
        "unitemized": [asdict(item) for item in report.unitemized],
        "notes": notes,
    }


def _csv(report: "CostReport") -> None:
    """Write the lines as CSV (RFC 4180); a value that is not known is `unknown`."""
    from landbridge.burst.operator.cost import COLUMNS, NUMBERS

    out = csv.writer(sys.stdout)
    out.writerow((*COLUMNS[report.by], *NUMBERS))
    for row in _rows(report):
        out.writerow("unknown" if value is None else value for value in row.values())


def _text(report: "CostReport") -> None:
    from landbridge.burst.operator.cost import COLUMNS

    columns = COLUMNS[report.by]
    table = [[*columns, "node-hours", "GPU-hours", "USD", "running"]]
    table += [_cells(line, columns) for line in report.lines]
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    for row in table:
        cells = [
            cell.ljust(width) if at < len(columns) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())
    typer.echo(
        f"spent: {report.usd:,.2f} USD; instances that run now since their last charge: {report.running_usd:,.2f}"
    )
    unpriced = sum(line.unpriced_seconds for line in report.lines)
    if unpriced:
        typer.echo(f"{unpriced / 3600:,.1f} node-hours have no known price and are in no sum (burst.prices)")


def _cells(line: "CostLine", columns: Any) -> list[str]:
    def named(value: object) -> str:
        return "unknown" if value is None else str(value) if value not in ("", 0) else "-"

    gpu_hours = "unknown" if line.gpu_hours is None else f"{line.gpu_hours:,.1f}"
    usd = "unknown" if line.usd is None else f"{line.usd:,.2f}"
    names = [named(getattr(line, column)) for column in columns]
    return [*names, f"{line.node_seconds / 3600:,.1f}", gpu_hours, usd, f"{line.running_usd:,.2f}"]
