"""Shared code of the commands that compare owned with rented nodes."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from landbridge.economics.comparison import Comparison
    from landbridge.environment import Environment

Utilisation = Annotated[
    float | None,
    typer.Option(min=0.01, max=1, help="Share of the hours in which nodes have jobs; default: the catalogue's."),
]
Instance = Annotated[
    str | None, typer.Option(help="Instance type to compare with; default: one with the same GPUs, first of a pool.")
]


def default_utilisation() -> float:
    """Return the catalogue's utilisation."""
    from landbridge.catalog.hardware.onprem_costs import default_cost

    return default_cost("utilisation") or 1.0


def require_comparisons(environment: "Environment", instance: str | None) -> "tuple[Comparison, ...]":
    """Return the comparisons of owned with rented nodes. If there are none, print the reasons and exit with 2."""
    from landbridge.catalog import instances
    from landbridge.economics.comparison import comparisons
    from landbridge.findings import did_you_mean
    from landbridge.plan.cost.owned_inputs import owned_groups

    if instance is not None and instance not in instances():
        near = did_you_mean(instance, instances())
        raise typer.BadParameter(
            f"unknown instance type{f', did you mean {near}?' if near else ''}", param_hint="--instance"
        )
    found_comparisons = comparisons(environment, instance)
    groups = owned_groups(environment)
    for group in groups:
        if group.inputs is None:
            typer.echo(f"landbridge: {group.hosts} is left out: {group.missing}", err=True)
    if not found_comparisons:
        reason = "no owned node with a price" if groups else "no owned nodes"
        typer.echo(f"landbridge: {environment.name} has {reason}", err=True)
        raise typer.Exit(2)
    for comparison in found_comparisons:
        if not comparison.rates:
            rented = comparison.instance or f"an instance with {comparison.group.gpu_type}"
            hosts = ", ".join(comparison.hosts)
            typer.echo(f"landbridge: {hosts}: no price known for {rented} in {environment.region}", err=True)
    return found_comparisons


def heading(comparison: "Comparison") -> str:
    """Return the nodes of a comparison in words."""
    hosts = ", ".join(comparison.hosts)
    return f"{comparison.nodes} x {comparison.group.platform} ({hosts}), {comparison.gpus} GPUs each"
