"""Sections of a user's page: the cost of the user's jobs in a month, their GPUs, and each job with its state."""

from collections.abc import Sequence

from landbridge.economics.job_costs.lines import LineKey, MonthStatement
from landbridge.economics.job_costs.sums import UseSum, in_cents, sums
from landbridge.report.content import Bar, FigureRow, Section, Table
from landbridge.timestamps import iso
from landbridge.trace.allocations import Allocation

#: Jobs that are shown, the latest first.
MAX_USER_JOBS = 200


def user_sections(
    statement: MonthStatement, allocations: Sequence[Allocation], user: str, now: float
) -> tuple[Section, ...]:
    """Return the sections about one user; lines and allocations of others are left out."""
    user_statement = statement.only(lambda key: key.user == user)
    jobs = {line.key.job for line in user_statement.lines if line.key.job}
    runs = [each for each in allocations if each.user == user and each.job in jobs]
    gpu_hours = sum(line.gpu_hours for line in user_statement.lines)
    summary = (
        f"{len(jobs)} jobs of {user} have cost {user_statement.usd:,.2f} USD in {user_statement.month} (UTC), for {gpu_hours:,.1f} GPU-hours.",
        "A job pays for the GPUs that it had, from its start to its end, also while they had no work.",
    )
    running = sum(each.gpus for each in runs if each.end is None)
    gpus = (f"{running} GPUs are allocated to running jobs now.",) if running else ("No job runs now.",)
    return (
        Section("cost", "Cost", summary, (_costs(user_statement),)),
        Section("gpus", "GPUs", gpus, (_gpus(user_statement),)),
        Section("jobs", "Jobs", (), (_jobs(user_statement, runs, now),)),
    )


def _costs(statement: MonthStatement) -> Table:
    rows = sums(statement.lines, _use)
    figures = [
        FigureRow(row.group[0], (row.group[1], f"{row.gpu_hours:,.1f}", f"{usd:,.2f}"), Bar(0.0, float(row.usd)))
        for row, usd in zip(rows, in_cents(rows), strict=True)
    ]
    total = UseSum(("all", ""))
    for row in rows:
        total.merge(row)
    usd = sum(in_cents(rows))
    figures.append(FigureRow("all", ("", f"{total.gpu_hours:,.1f}", f"{usd:,.2f}"), is_total=True))
    return Table("By use and site", ("use", "site", "GPU-hours", "USD"), tuple(figures))


def _gpus(statement: MonthStatement) -> Table:
    rows = sorted(sums(statement.lines, lambda key: (key.day,)), key=lambda row: row.group)
    figures = (FigureRow(row.group[0], (f"{row.gpu_hours:,.1f}",), Bar(0.0, row.gpu_hours)) for row in rows)
    return Table("GPU-hours by day", ("day", "GPU-hours"), tuple(figures))


def _jobs(statement: MonthStatement, runs: Sequence[Allocation], now: float) -> Table:
    rows = {row.group: row for row in sums(statement.lines, lambda key: (str(key.job),))}
    cents = dict(zip(rows, in_cents(list(rows.values())), strict=True))
    latest = {each.job: each for each in sorted(runs, key=lambda run: run.start)}
    shown = sorted(latest.values(), key=lambda run: -run.start)[:MAX_USER_JOBS]
    figures = []
    for each in shown:
        key = (str(each.job),)
        hours = ((now if each.end is None else each.end) - each.start) / 3600
        state = each.state.replace("_", " ").lower()
        values = (
            state,
            iso(each.start)[:16].replace("T", " "),
            f"{hours:,.1f}",
            str(each.gpus),
            f"{rows[key].gpu_hours:,.1f}",
            f"{cents[key]:,.2f}",
        )
        figures.append(FigureRow(each.name, values))
    headings = ("job", "state", "start of the last run (UTC)", "hours", "GPUs", "GPU-hours", "USD")
    return Table(f"At most {MAX_USER_JOBS} jobs, the latest first", headings, tuple(figures))


def _use(key: LineKey) -> tuple[str, ...]:
    return key.use.replace("_", " "), key.site
