"""Command `landbridge cost tco`: total cost of the nodes that an organisation owns."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require
from landbridge.cli.cost.common import Utilisation, default_utilisation

if TYPE_CHECKING:
    from landbridge.economics.tco import Tco

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Months = Annotated[
    float | None, typer.Option(min=1, max=600, help="Months of use; default: onprem.costs.years of the environment.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tco)


def tco(
    stack: Stack = None,
    file: File = None,
    months: Months = None,
    utilisation: Utilisation = None,
    form: Form = Format.TEXT,
) -> None:
    """Print the total cost of the owned nodes.

    By term, and per GPU-hour offered, used and finished. Inputs are onprem.costs of the environment. Example: landbridge cost tco -s hybrid --months 36 --utilisation 0.7
    """
    from landbridge.economics.tco import tco as total_cost

    environment = require(stack, file)
    if environment.onprem is None or not environment.onprem.nodes:
        typer.echo(f"landbridge: {environment.name} has no owned nodes", err=True)
        raise typer.Exit(2)
    chosen_months = months if months is not None else environment.onprem.costs.years * 12
    result = total_cost(environment, chosen_months, utilisation if utilisation is not None else default_utilisation())
    if not result.gpus:
        for group in result.unpriced:
            typer.echo(f"landbridge: {group.hosts} is left out: {group.missing}", err=True)
        typer.echo(f"landbridge: {environment.name} has no owned node with a price", err=True)
        raise typer.Exit(2)
    if form is Format.JSON:
        print_json(as_data(environment.name, result))
    else:
        _print(environment.name, result)


def as_data(name: str, result: "Tco") -> dict[str, Any]:
    """Return the total as plain data, sums first."""
    from dataclasses import asdict

    return {
        "environment": name,
        "months": result.months,
        "utilisation": result.utilisation,
        "goodput": result.losses.goodput,
        "gpus": result.gpus,
        "usd": result.usd,
        "usd_gpu_hour": {name: usd for name, _, usd in _per_gpu_hour(result)},
        "goodput_expense_usd": result.goodput_expense,
        "losses": asdict(result.losses),
        "terms": result.by_term(),
        "parts": [asdict(part) for part in result.parts],
        "sources": [asdict(source) for source in result.sources],
        "unpriced": [{"hosts": group.hosts, "why": group.missing} for group in result.unpriced],
    }


def _per_gpu_hour(result: "Tco") -> list[tuple[str, float, float | None]]:
    """Return GPU-hours and USD per GPU-hour, offered, used and finished; None if there are no hours."""
    hours = {
        "offered": result.offered_gpu_hours,
        "used": result.used_gpu_hours,
        "finished": result.finished_gpu_hours,
    }
    return [(name, count, result.usd / count if count else None) for name, count in hours.items()]


def _print(name: str, result: "Tco") -> None:
    total = result.usd
    typer.echo(f"{name}: {result.gpus} owned GPUs, {result.months:g} months, utilisation {result.utilisation:.0%}\n")
    typer.echo(f"{'term':<14}{'USD':>16}{'share':>8}")
    for term, usd in result.by_term().items():
        typer.echo(f"{term:<14}{usd:>16,.0f}{usd / total if total else 0:>8.1%}")
    typer.echo(f"{'at least' if result.unpriced else 'total':<14}{total:>16,.0f}\n")
    typer.echo(f"{'GPU-hours':<14}{'':>16}{'USD per GPU-hour':>20}")
    for kind, count, usd_hour in _per_gpu_hour(result):
        typer.echo(f"{kind:<14}{count:>16,.0f}{'none' if usd_hour is None else f'{usd_hour:,.3f}':>20}")
    lost = result.losses
    typer.echo(
        f"\ngoodput {lost.goodput:.2%}: checkpoints {lost.checkpoints:.2%}, computed again {lost.rework:.2%}, "
        f"restarts {lost.restarts:.2%}; expense {result.goodput_expense:,.0f} USD, in the total"
    )
    for source in result.sources:
        day = f", {source.as_of}, {source.confidence}" if source.as_of is not None else ""
        typer.echo(f"{source.term}: {source.source}{day}")
    for group in result.unpriced:
        typer.echo(f"not in the sum: {group.hosts} ({group.missing})")
