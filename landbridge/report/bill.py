"""Section about the bill of an environment: both sites, by data class and by line."""

from landbridge.plan.cost import Spend
from landbridge.report.content import Bar, FigureRow, Section, Table

#: Lines of the bill that are shown, the most expensive first.
MAX_LINES = 15


def bill(spend: Spend) -> Section:
    """Return the section. A sum without all prices is a lower bound, and the text says so."""
    missing = [item for item in spend.unpriced if item.reason == "no_price"]
    at_least = "at least " if missing else ""
    summary = [
        f"With all nodes running a month costs {at_least}{spend.usd_month:,.0f} USD, without jobs {at_least}{spend.fixed_month:,.0f} USD.",
    ]
    if missing:
        summary.append(f"No price is known for: {'; '.join(item.description for item in missing)}.")
    classes = tuple(
        FigureRow(name or "shared by several classes", (f"{month:,.0f}", f"{fixed:,.0f}"), Bar(0.0, month))
        for name, (month, fixed) in sorted(spend.by_data_class().items(), key=lambda pair: -pair[1][0])
    )
    lines = sorted(spend.lines, key=lambda line: -line.usd_month)
    rows = [
        FigureRow(
            f"{line.pool}: {line.description}" if line.pool else line.description,
            (f"{line.usd_month:,.0f}", f"{line.fixed_month:,.0f}"),
            Bar(0.0, line.usd_month),
        )
        for line in lines[:MAX_LINES]
    ]
    if rest := lines[MAX_LINES:]:
        sums = (sum(line.usd_month for line in rest), sum(line.fixed_month for line in rest))
        rows.append(FigureRow(f"{len(rest)} further lines", (f"{sums[0]:,.0f}", f"{sums[1]:,.0f}"), Bar(0.0, sums[0])))
    rows.append(FigureRow("all", (f"{spend.usd_month:,.0f}", f"{spend.fixed_month:,.0f}"), is_total=True))
    headings = ("USD a month, all nodes running", "without jobs")
    figures = (
        Table("By data class", ("data class", *headings), classes),
        Table("By line", ("resource", *headings), tuple(rows)),
    )
    sources = tuple(dict.fromkeys(f"{line.source}, {line.as_of} ({line.confidence})" for line in spend.lines))
    return Section("bill", "Bill", tuple(summary), figures, sources)
