"""Display of the cost of a change: as text, and as Markdown for a pull request."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from landbridge.plan.cost import CostChange, LineChange, Unpriced

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def print_change(name: str, base: str, change: "CostChange") -> None:
    """Print a line for each difference, and the sums."""
    if change.is_empty:
        typer.echo(f"{name}: no change of the cost since {base}")
        return
    typer.echo(f"{name}: change of the cost since {base}, in USD a month (idle: with no node running)")
    rows = [
        (
            _SIGNS[line.kind],
            _description(line),
            signed(line.usd_month),
            signed(line.fixed_month),
            _upfront(line.usd_whole),
        )
        for line in change.lines
    ]
    rows.append(("", "sum", signed(change.usd_month), signed(change.fixed_month), _upfront(change.usd_whole)))
    width = max(len(description) for _, description, *_ in rows)
    for sign, description, month, fixed, upfront in rows:
        prepaid = f"  {upfront} in advance" if upfront else ""
        typer.echo(f"{sign:<1} {description:<{width}}  {month:>12}  idle {fixed:>12}{prepaid}")
    typer.echo(f"with all nodes: {_total(change.before.usd_month)} -> {_total(change.after.usd_month)} USD a month")
    for sign, item in _unpriced(change):
        typer.echo(f"{sign} {_item(item)}: not in the sum: {item.why}")
    if change.without_price:
        typer.echo("the difference is not complete: a price is not known")


def comment(name: str, base: str, change: "CostChange") -> str:
    """Return the difference as Markdown: the sums, and the lines in a section that opens on a click."""
    if change.is_empty:
        return f"**Cost of `{name}`**: no change since `{base}`."
    incomplete = " (not complete: a price is not known)" if change.without_price else ""
    lines = [
        f"**Cost of `{name}`**: {signed(change.usd_month)} USD a month with all nodes running, "
        f"{signed(change.fixed_month)} without jobs{incomplete}",
        "",
        "| | before | after | change |",
        "| --- | ---: | ---: | ---: |",
        _sum_row("USD a month, all nodes", change.before.usd_month, change.after.usd_month, change.usd_month),
        _sum_row("USD a month, no jobs", change.before.fixed_month, change.after.fixed_month, change.fixed_month),
    ]
    if change.usd_whole:
        lines.append(f"| USD in advance, Capacity Blocks | | | {signed(change.usd_whole)} |")
    count = len(change.lines)
    lines += ["", f"<details><summary>{count} line{'s' * (count != 1)} since <code>{base}</code></summary>", ""]
    lines += ["| | line | all nodes | no jobs | in advance | price of |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for line in change.lines:
        cells = (
            line.kind,
            _cell(_description(line)),
            signed(line.usd_month),
            signed(line.fixed_month),
            _upfront(line.usd_whole),
            str(line.line.as_of or "environment file"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    unpriced = [f"- {sign} {_cell(_item(item))}: {_cell(item.why)}" for sign, item in _unpriced(change)]
    lines += ["", *(["Not in the sums:", "", *unpriced, ""] if unpriced else []), "</details>"]
    return "\n".join(lines)


def signed(usd: float) -> str:
    """Return an amount with its sign, without cents from 100 USD on; `0` for less than half a cent."""
    if abs(usd) < 0.005:
        return "0"
    return f"{usd:+,.0f}" if abs(usd) >= 100 else f"{usd:+,.2f}"


def _description(line: "LineChange") -> str:
    text = line.line.description
    if line.before is not None and line.after is not None and line.before.description != line.after.description:
        text = f"{line.before.description} -> {line.after.description}"
    return f"{line.line.pool}: {text}" if line.line.pool else text


def _unpriced(change: "CostChange") -> "list[tuple[str, Unpriced]]":
    added, removed = ((sign, items) for sign, items in (("+", change.unpriced_added), ("-", change.unpriced_removed)))
    return [(sign, item) for sign, items in (added, removed) for item in items]


def _item(item: "Unpriced") -> str:
    return f"{item.pool}: {item.description}" if item.pool else item.description


def _sum_row(label: str, before: float, after: float, difference: float) -> str:
    return f"| {label} | {_total(before)} | {_total(after)} | {signed(difference)} |"


def _total(usd: float) -> str:
    return f"{usd:,.0f}"


def _upfront(usd: float) -> str:
    return signed(usd) if usd else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
