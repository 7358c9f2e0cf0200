"""Findings about items of a bill without a known price: their sums are lower bounds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import load, print_findings

if TYPE_CHECKING:
    from landbridge.findings import DataPath, Finding
    from landbridge.plan.cost import Unpriced

Allow = Annotated[
    bool, typer.Option("--allow-unpriced", help="Exit with 0 although items without a known price are not in the sum.")
]


def unpriced_findings(
    items: "tuple[Unpriced, ...]", stack: str | None, file: Path | None, *, allow: bool
) -> "tuple[Finding, ...]":
    """Return a finding for each item, at its pool or node group in the environment file: an error, or a warning if it is allowed."""
    from landbridge.findings import Finding, Severity

    if not items:
        return ()
    loaded = load(stack, file)
    pools = [pool.name for pool in loaded.environment.aws.pools] if loaded.environment is not None else []
    groups = [group.hosts for group in loaded.environment.node_groups] if loaded.environment is not None else []
    severity = Severity.WARNING if allow else Severity.ERROR
    findings = []
    for item in items:
        path: DataPath = ("aws", "pools", pools.index(item.pool)) if item.pool in pools else ("aws",)
        if item.hosts in groups:
            path = ("onprem", "nodes", groups.index(item.hosts))
        message = f"{item.pool + ': ' if item.pool else ''}{item.description} is not in the sum: {item.why}"
        how = (
            "set burst.prices, run `landbridge prices refresh`"
            if item.pool in pools
            else "set onprem.costs.nodes"
            if item.hosts in groups
            else "add a dated row to a price book"
        )
        fix = f"{how}, or give --allow-unpriced"
        findings.append(loaded.place(Finding("cost-unpriced", message, path, fix, severity)))
    return tuple(findings)


def print_unpriced(findings: "tuple[Finding, ...]", usd_month: float) -> None:
    """Print that the sum is a lower bound, and the findings."""
    if findings:
        count = len(findings)
        noun = "item has" if count == 1 else "items have"
        typer.echo(f"at least ${usd_month:,.0f} a month: {count} {noun} no known price")
        print_findings(findings)
