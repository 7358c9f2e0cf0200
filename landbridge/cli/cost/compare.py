"""Command `landbridge cost compare`: owned nodes beside each way to rent their GPUs, and the sensitivity to each input."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require
from landbridge.cli.cost.common import Instance, Utilisation, default_utilisation, heading, require_comparisons

if TYPE_CHECKING:
    from landbridge.economics.comparison import Comparison, OptionCost
    from landbridge.economics.tornado import TornadoBar

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Months = Annotated[float, typer.Option(min=1, max=600, help="Months over which the cost is counted.")]
_BAR_WIDTH = 30


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    stack: Stack = None,
    file: File = None,
    months: Months = 36,
    utilisation: Utilisation = None,
    instance: Instance = None,
    form: Form = Format.TEXT,
) -> None:
    """Print the cost of GPU-hours, owned and rented.

    Also the effect of each input from low to high. Prices are the newest of the environment's region. Example: landbridge cost compare -s hybrid --months 36
    """
    from landbridge.economics.comparison import option_costs
    from landbridge.economics.goodput import losses
    from landbridge.economics.tornado import tornado
    from landbridge.environment import Goodput

    environment = require(stack, file)
    used = utilisation if utilisation is not None else default_utilisation()
    found_comparisons = require_comparisons(environment, instance)
    settings = environment.onprem.costs.goodput if environment.onprem is not None else Goodput()
    goodput = losses(settings).goodput
    results = [
        (comparison, option_costs(comparison, months, used, goodput), tornado(comparison.group, used))
        for comparison in found_comparisons
    ]
    if form is Format.JSON:
        data = {"environment": environment.name, "months": months, "utilisation": used, "goodput": goodput}
        print_json({**data, "nodes": [_as_data(*result) for result in results]})
        return
    for comparison, options, bars in results:
        typer.echo(f"{heading(comparison)}, {months:g} months, utilisation {used:.0%}\n")
        _print_options(options)
        _print_tornado(bars)


def _as_data(
    comparison: "Comparison", options: "tuple[OptionCost, ...]", bars: "tuple[TornadoBar, ...]"
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "hosts": list(comparison.hosts),
        "platform": comparison.group.platform,
        "nodes": comparison.nodes,
        "instance": comparison.instance,
        "options": [
            {
                "option": option.name,
                "usd": option.usd,
                "usd_used_gpu_hour": option.usd_used_gpu_hour,
                "usd_finished_gpu_hour": option.usd_finished_gpu_hour,
                "usd_hour": option.rate.usd_hour if option.rate else None,
                "as_of": option.rate.as_of if option.rate else None,
                "source": option.rate.source if option.rate else None,
            }
            for option in options
        ],
        "tornado": [{**asdict(bar), "effect": bar.effect} for bar in bars],
    }


def _print_options(options: "tuple[OptionCost, ...]") -> None:
    owned = options[0].usd
    typer.echo(f"{'':<18}{'USD':>14}{'owned saves':>14}{'USD per GPU-hour used':>24}{'finished':>11}  price of")
    for option in options:
        finished = "none" if option.usd_finished_gpu_hour is None else f"{option.usd_finished_gpu_hour:.3f}"
        saving = "" if option.rate is None else f"{option.usd - owned:,.0f}"
        day = str(option.rate.as_of) if option.rate is not None else ""
        line = (
            f"{option.name:<18}{option.usd:>14,.0f}{saving:>14}{option.usd_used_gpu_hour:>24.3f}{finished:>11}  {day}"
        )
        typer.echo(line.rstrip())


def _print_tornado(bars: "tuple[TornadoBar, ...]") -> None:
    typer.echo("\nUSD per used GPU-hour of owned nodes, with one input at the ends of its published range")
    typer.echo(f"{'':<20}{'low':>10}{'now':>10}{'high':>10}{'at low':>9}{'at high':>9}{'effect':>9}")
    largest = max((bar.effect for bar in bars), default=0.0)
    for bar in bars:
        now = "off" if bar.base is None else f"{bar.base:g}"
        values = f"{bar.low:>10g}{now:>10}{bar.high:>10g}{bar.usd_low:>9.3f}{bar.usd_high:>9.3f}{bar.effect:>9.3f}"
        length = round(_BAR_WIDTH * bar.effect / largest) if largest else 0
        typer.echo(f"{bar.name:<20}{values}  {'#' * length}".rstrip())
    typer.echo("")
