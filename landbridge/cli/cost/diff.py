"""Command `landbridge cost diff`: cost of a change of the environment file."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Stack, environment_path, exit_code, print_json, require
from landbridge.cli.cost.own_prices import OwnPrices, use_price_book
from landbridge.cli.cost.unpriced import Allow

if TYPE_CHECKING:
    from landbridge.plan.cost import CostChange, Spend


class DiffFormat(StrEnum):
    """Output format of the difference."""

    TEXT = "text"
    JSON = "json"
    COMMENT = "comment"


Form = Annotated[
    DiffFormat, typer.Option("--format", help="Output format: text, json, or comment (Markdown for a pull request).")
]
Base = Annotated[
    str, typer.Option("--base", metavar="FILE|REVISION", help="Earlier state: a file, or a git revision of the file.")
]


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(diff)


def diff(
    stack: Stack = None,
    file: File = None,
    base: Base = "HEAD",
    prices: OwnPrices = None,
    allow: Allow = False,
    form: Form = DiffFormat.TEXT,
) -> None:
    """Print the cost of a change of the environment file.

    Both states are priced with the same prices. Exit status: 0; 1 if the change adds an item without a known price, so
    that its cost is unknown; 2 if a state cannot be read. `landbridge impact` shows the effect on jobs and data.

    Example: landbridge cost diff -s example --base main --format comment
    """
    from landbridge.cli.common import print_findings
    from landbridge.cli.cost.unpriced import unpriced_findings
    from landbridge.cli.display.cost_change import comment, print_change
    from landbridge.plan.cost import cost_change, spend

    use_price_book(prices)
    environment = require(stack, file)
    before, name = _base_spend(base, stack, file)
    change = cost_change(before, spend(environment))
    added = tuple(item for item in change.unpriced_added if item.reason == "no_price")
    findings = unpriced_findings(added, stack, file, allow=allow)
    match form:
        case DiffFormat.JSON:
            data = as_data(environment.name, name, change)
            print_json({**data, "findings": [finding.to_dict() for finding in findings]})
        case DiffFormat.COMMENT:
            typer.echo(comment(environment.name, name, change))
        case DiffFormat.TEXT:
            print_change(environment.name, name, change)
            print_findings(findings)
    raise typer.Exit(exit_code(findings))


def as_data(name: str, base: str, change: "CostChange") -> dict[str, Any]:
    """Return the difference as plain data, sums first."""
    from dataclasses import asdict

    return {
        "environment": name,
        "base": base,
        "usd_hour": change.usd_hour,
        "usd_month": change.usd_month,
        "fixed_month": change.fixed_month,
        "usd_whole": change.usd_whole,
        "before": {"usd_month": change.before.usd_month, "fixed_month": change.before.fixed_month},
        "after": {"usd_month": change.after.usd_month, "fixed_month": change.after.fixed_month},
        "complete": not change.without_price,
        "lines": [
            {
                "change": line.kind,
                "what": line.line.description,
                "before": line.before.description if line.before is not None else None,
                "pool": line.line.pool,
                "usd_hour": line.usd_hour,
                "usd_month": line.usd_month,
                "fixed_month": line.fixed_month,
                "usd_whole": line.usd_whole,
                "as_of": line.line.as_of,
                "source": line.line.source,
            }
            for line in change.lines
        ],
        "unpriced_added": [asdict(item) for item in change.unpriced_added],
        "unpriced_removed": [asdict(item) for item in change.unpriced_removed],
    }


def _base_spend(base: str, stack: str | None, file: Any) -> "tuple[Spend, str]":
    """Return the bill of the earlier state, and its name. A file that did not exist has an empty bill."""
    from landbridge.cli.common import print_findings
    from landbridge.cli.cost.base import base_text
    from landbridge.environment import load_text
    from landbridge.findings import FindingsError
    from landbridge.plan.cost import Spend, spend

    path = environment_path(stack, file)
    try:
        text, name = base_text(base, path)
    except FindingsError as error:
        print_findings(error.findings)
        raise typer.Exit(2) from None
    if text is None:
        return Spend((), ()), name
    loaded = load_text(text, path)
    if loaded.environment is None:
        typer.echo(f"landbridge: the earlier state {name} has errors:", err=True)
        print_findings(finding.at(name, finding.line, finding.column) for finding in loaded.findings)
        raise typer.Exit(2)
    return spend(loaded.environment), name
