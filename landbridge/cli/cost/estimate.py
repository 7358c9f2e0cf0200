"""Command `landbridge cost`: estimate the bill of an environment, in AWS and on-prem, before it is built."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, print_json, require
from landbridge.cli.cost.own_prices import OwnPrices, use_price_book
from landbridge.cli.cost.unpriced import Allow, print_unpriced, unpriced_findings

if TYPE_CHECKING:
    from landbridge.plan.cost import Spend, SpendLine, Unpriced

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def cost(
    context: typer.Context,
    stack: Stack = None,
    file: File = None,
    prices: OwnPrices = None,
    allow: Allow = False,
    form: Form = Format.TEXT,
) -> None:
    """Print the cost of both sites.

    AWS resources at dated list prices, with all nodes running and with none, and owned nodes. Without taxes,
    discounts and traffic. Exit status: 0, or 1 if the sum is a lower bound, because an item has no known price; items
    billed by volume are listed and are not reasons.

    Example: landbridge cost -s example
    """
    from landbridge.plan.cost import spend

    if context.invoked_subcommand is not None:
        return
    use_price_book(prices)
    environment = require(stack, file)
    costs = spend(environment)
    findings = unpriced_findings(costs.without_price, stack, file, allow=allow)
    if form is Format.JSON:
        print_json({**as_data(environment.name, costs), "findings": [finding.to_dict() for finding in findings]})
    else:
        _table(environment.name, costs)
        print_unpriced(findings, costs.usd_month)
    raise typer.Exit(exit_code(findings))


def as_data(name: str, costs: "Spend") -> dict[str, Any]:
    """Return the cost as plain data, sums first."""
    from dataclasses import asdict

    def row(item: "SpendLine | Unpriced") -> dict[str, Any]:
        # The JSON key of the description is `what`, a public interface.
        return {"what" if key == "description" else key: value for key, value in asdict(item).items()}

    def sums(by: dict[str | None, tuple[float, float]]) -> list[dict[str, Any]]:
        return [{"name": key, "usd_month": month, "fixed_month": fixed} for key, (month, fixed) in by.items()]

    return {
        "environment": name,
        "usd_hour": costs.usd_hour,
        "usd_month": costs.usd_month,
        "fixed_month": costs.fixed_month,
        "at_least": bool(costs.without_price),
        "oldest_price": costs.as_of,
        "pools": sums(costs.by_pool()),
        "data_classes": sums(costs.by_data_class()),
        "lines": [row(line) for line in costs.lines],
        "unpriced": [row(item) for item in costs.unpriced],
    }


def _table(name: str, costs: "Spend") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(title=f"{name}: list prices in US dollars", box=None, pad_edge=False, title_justify="left")
    for heading in ("pool", "resource"):
        table.add_column(heading, overflow="fold")
    for heading in ("USD/hour", "USD/month", "idle USD/month", "upfront USD"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("price date")
    table.add_column("note", overflow="fold", style="dim")
    sources: dict[str, int] = {}
    for line in costs.lines:
        number = sources.setdefault(line.source, len(sources) + 1)
        whole = _usd(line.usd_whole) if line.usd_whole is not None else ""
        doubt = "" if line.confidence == "primary" else line.confidence
        remark = "; ".join(text for text in (doubt, line.note) if text)
        sums = [_usd(line.usd_hour, cents=True), _usd(line.usd_month), _usd(line.fixed_month), whole]
        table.add_row(line.pool, line.description, *sums, f"{line.as_of or 'undated'} [{number}]", remark)
    table.add_section()
    total = [_usd(costs.usd_hour, cents=True), _usd(costs.usd_month), _usd(costs.fixed_month)]
    table.add_row("all", "", *total, "", style="bold")
    console.print(table)
    console.print("\nUSD/month: 730 hours with all nodes running; idle: with no node running")
    for heading, sums_of in (("by pool", costs.by_pool()), ("by data class", costs.by_data_class())):
        if len(sums_of) > 1:
            shown = [f"{key or 'shared'} {_usd(month)} ({_usd(fixed)})" for key, (month, fixed) in sums_of.items()]
            console.print(f"{heading}, USD/month (idle): {', '.join(shown)}", soft_wrap=True)
    for source, number in sources.items():
        console.print(f"[{number}] {source}", soft_wrap=True, markup=False, style="dim")
    if costs.unpriced:
        console.print("not in the sum:", style="bold")
        for item in costs.unpriced:
            pool_prefix = f"{item.pool}: " if item.pool else ""
            console.print(f"  {pool_prefix}{item.description} ({item.why})", soft_wrap=True, markup=False)


def _usd(value: float, *, cents: bool = False) -> str:
    return f"{value:,.{3 if value < 1 else 2}f}" if cents else f"{value:,.0f}"
