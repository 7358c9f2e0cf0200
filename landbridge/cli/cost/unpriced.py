"""Findings about items of a bill without a known price: their sums are lower bounds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import load, print_findings

if TYPE_CHECKING:
    from landbridge.findings import Finding
    from landbridge.plan.cost import Unpriced

Allow = Annotated[
    bool, typer.Option("--allow-unpriced", help="Exit with 0 although items without a known price are not in the sum.")
]


def unpriced_findings(
    items: "tuple[Unpriced, ...]", stack: str | None, file: Path | None, *, allow: bool
) -> "tuple[Finding, ...]":
    """Return a finding for each item, at its pool in the environment file: an error, or a warning if it is allowed."""
    from landbridge.findings import Finding, Severity

    if not items:
        return ()
    loaded = load(stack, file)
    pools = [pool.name for pool in loaded.environment.aws.pools] if loaded.environment is not None else []
    severity = Severity.WARNING if allow else Severity.ERROR
    findings = []
    for item in items:
        pool_path = ("aws", "pools", pools.index(item.pool)) if item.pool in pools else ("aws",)
        message = f"{item.pool + ': ' if item.pool else ''}{item.description} is not in the sum: {item.why}"
        how = (
            "set burst.prices, run `landbridge prices refresh`"
            if item.pool in pools
            else "add a dated row to a price book"
        )
        fix = f"{how}, or give --allow-unpriced"
        findings.append(loaded.place(Finding("cost-unpriced", message, pool_path, fix, severity)))
    return tuple(findings)


def print_unpriced(findings: "tuple[Finding, ...]", usd_month: float) -> None:
    """Print that the sum is a lower bound, and the findings."""
    if findings:
        count = len(findings)
        noun = "item has" if count == 1 else "items have"
        typer.echo(f"at least ${usd_month:,.0f} a month: {count} {noun} no known price")
        print_findings(findings)
