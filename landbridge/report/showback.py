"""Sections about a month's statement: the bill by use, by account, by user, and the most expensive jobs."""

from collections.abc import Callable

from landbridge.economics.job_costs.lines import LineKey, MonthStatement
from landbridge.economics.job_costs.money import decimal_of
from landbridge.economics.job_costs.sums import UseSum, in_cents, sums
from landbridge.report.content import Bar, FigureRow, Section, Table

#: Jobs that are shown, the most expensive first.
MAX_JOBS = 50
HEADINGS = ("node-hours", "GPU-hours", "kWh", "kg CO2e", "USD")


def showback(statement: MonthStatement) -> tuple[Section, ...]:
    """Return the sections."""
    bill = statement.bill
    parts = (("owned nodes", bill.owned), ("nodes in AWS", bill.journal), ("transfers", bill.transfers))
    listed = ", ".join(f"{name} {decimal_of(usd, 2):,.2f} USD" for name, usd in parts if usd)
    summary = (
        f"{statement.month} (UTC) has cost {decimal_of(bill.usd, 2):,.2f} USD: {listed or 'nothing'}.",
        "The lines of each table add up to this sum; idle time and lost time are lines of their own.",
    )
    notes = (*statement.notes, *(finding.message for finding in statement.findings))
    return (
        Section("use", "By use", summary, (_table(statement, "By use and site", ("use", "site"), _use),), notes),
        Section("accounts", "By account", (), (_table(statement, "By account and use", ("account", "use"), _account),)),
        Section("users", "By user", (), (_table(statement, "By user and use", ("user", "use"), _user),)),
        Section("jobs", "By job", (), (_table(statement, "By job", ("job", "user", "use"), _job, MAX_JOBS),)),
    )


def _table(
    statement: MonthStatement,
    caption: str,
    names: tuple[str, ...],
    group: Callable[[LineKey], tuple[str, ...]],
    limit: int | None = None,
) -> Table:
    rows = sums(statement.lines, group)
    shown = list(zip(rows, in_cents(rows), strict=True))
    figures = [_row(row, f"{usd:,.2f}") for row, usd in shown[:limit]]
    if rest := shown[limit:] if limit is not None else []:
        added = UseSum((f"{len(rest)} further lines", *("" for _ in names[1:])))
        for row, _ in rest:
            added.merge(row)
        figures.append(_row(added, f"{sum(usd for _, usd in rest):,.2f}"))
    total = UseSum(("all", *("" for _ in names[1:])))
    for row in rows:
        total.merge(row)
    figures.append(_row(total, f"{sum(usd for _, usd in shown):,.2f}", is_total=True))
    return Table(caption, (*names, *HEADINGS), tuple(figures))


def _row(row: UseSum, usd: str, *, is_total: bool = False) -> FigureRow:
    heading, *others = row.group
    kwh = "unknown" if row.energy == {"unknown"} else f"{row.kwh:,.1f}"
    co2e = f"{row.co2e_kg:,.1f}" if row.has_co2e else "unknown"
    values = (*others, f"{row.node_hours:,.1f}", f"{row.gpu_hours:,.1f}", kwh, co2e, usd)
    return FigureRow(heading, values, None if is_total else Bar(0.0, float(row.usd)), is_total=is_total)


def _use(key: LineKey) -> tuple[str, ...]:
    return key.use.replace("_", " "), key.site


def _account(key: LineKey) -> tuple[str, ...]:
    return key.account or "no account", key.use.replace("_", " ")


def _user(key: LineKey) -> tuple[str, ...]:
    return key.user or "no user", key.use.replace("_", " ")


def _job(key: LineKey) -> tuple[str, ...]:
    return (key.name or "no job") if key.job else "no job", key.user or "-", key.use.replace("_", " ")
