"""Command `landbridge cost breakeven`: utilisation and months at which owning costs as much as renting."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require
from landbridge.cli.cost.common import Instance, Utilisation, default_utilisation, heading, require_comparisons

if TYPE_CHECKING:
    from landbridge.economics.breakeven import SurfaceCell
    from landbridge.economics.cloud_rates import CloudRate
    from landbridge.economics.comparison import Comparison
    from landbridge.economics.rule_band import RatedPrice, RuleBand

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
_UTILISATIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MONTHS = (6, 12, 18, 24, 36, 48, 60)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(breakeven)


def breakeven(
    stack: Stack = None,
    file: File = None,
    utilisation: Utilisation = None,
    instance: Instance = None,
    form: Form = Format.TEXT,
) -> None:
    """Print when owned nodes cost as much as renting.

    Utilisation and months, by purchase option. Also the saving over a grid of utilisation and months, and the dated prices for which "60 to 70 percent" is right.
    Example: landbridge cost breakeven -s hybrid --utilisation 0.7
    """
    environment = require(stack, file)
    used = utilisation if utilisation is not None else default_utilisation()
    found_comparisons = require_comparisons(environment, instance)
    data = [_as_data(comparison, used) for comparison in found_comparisons]
    if form is Format.JSON:
        print_json({"environment": environment.name, "utilisation": used, "nodes": data})
        return
    for comparison in found_comparisons:
        _print(comparison, used)


def _band(comparison: "Comparison") -> "RuleBand":
    from landbridge.catalog import onprem_costs
    from landbridge.economics.cloud_rates import dated_rates
    from landbridge.economics.rule_band import rule_band

    rule = onprem_costs().rule_of_thumb
    low, high = rule.low or 0.0, rule.high or 1.0
    dated = dated_rates(comparison.instance, comparison.gpus) if comparison.instance else ()
    return rule_band(comparison.inputs, low, high, dated)


def _as_data(comparison: "Comparison", utilisation: float) -> dict[str, Any]:
    from landbridge.economics.breakeven import breakeven_months, breakeven_utilisation, surface
    from landbridge.plan.cost.owned_node import onprem_node_hour

    node, band = comparison.inputs, _band(comparison)
    return {
        "hosts": list(comparison.hosts),
        "platform": comparison.group.platform,
        "usd_node_hour": onprem_node_hour(node, utilisation).usd,
        "instance": comparison.instance,
        "options": [
            {
                **_rate(rate),
                "breakeven_utilisation": breakeven_utilisation(node, rate.usd_hour),
                "breakeven_months": breakeven_months(node, rate.usd_hour, utilisation),
            }
            for rate in comparison.rates
        ],
        "surface": [
            {
                "option": cell.rate.name,
                "utilisation": cell.utilisation,
                "months": cell.months,
                "saving_usd": cell.saving_usd,
            }
            for cell in surface(node, comparison.rates, _UTILISATIONS, _MONTHS)
        ],
        "rule": {
            "utilisation": [band.low_utilisation, band.high_utilisation],
            "usd_hour": [band.low_usd_hour, band.high_usd_hour],
            "prices": [
                {**_rate(price.rate), "breakeven_utilisation": price.utilisation, "verdict": price.verdict}
                for price in band.prices
            ],
        },
    }


def _rate(rate: "CloudRate") -> dict[str, Any]:
    return {
        "option": rate.name,
        "instance": rate.instance,
        "region": rate.region,
        "usd_hour": rate.usd_hour,
        "as_of": rate.as_of,
        "source": rate.source,
        "confidence": rate.confidence,
    }


def _print(comparison: "Comparison", utilisation: float) -> None:
    from landbridge.economics.breakeven import breakeven_months, breakeven_utilisation, surface
    from landbridge.plan.cost.owned_node import onprem_node_hour

    node = comparison.inputs
    hour = onprem_node_hour(node, utilisation).usd
    typer.echo(
        f"{heading(comparison)}: {hour:,.2f} USD a node-hour at {utilisation:.0%}, {node.years:g} years of use\n"
    )
    typer.echo(
        f"{'rented ' + str(comparison.instance):<30}{'USD/h':>9}  {'price of':<11}{'utilisation':>12}{'months':>9}"
    )
    for rate in comparison.rates:
        used, months = breakeven_utilisation(node, rate.usd_hour), breakeven_months(node, rate.usd_hour, utilisation)
        shown_used = "never" if used is None else f"{used:.0%}"
        shown_months = "never" if months is None else f"{months:.1f}"
        typer.echo(f"{rate.name:<30}{rate.usd_hour:>9,.2f}  {rate.as_of!s:<11}{shown_used:>12}{shown_months:>9}")
    for rate in comparison.rates:
        _print_surface(rate, surface(node, [rate], _UTILISATIONS, _MONTHS))
    _print_band(_band(comparison))


def _print_surface(rate: "CloudRate", cells: "tuple[SurfaceCell, ...]") -> None:
    typer.echo(f"\nsaving of owning a node instead of {rate.name} at {rate.usd_hour:,.2f} USD/h, in 1000 USD")
    typer.echo("months      " + "".join(f"{months:>8}" for months in _MONTHS))
    for used in _UTILISATIONS:
        row = [cell.saving_usd for cell in cells if cell.utilisation == used]
        typer.echo(f"used {used:>6.0%} " + "".join(f"{saving / 1000:>8,.0f}" for saving in row))


def _print_band(band: "RuleBand") -> None:
    typer.echo(
        f'\n"{band.low_utilisation:.0%} to {band.high_utilisation:.0%} utilisation" holds for renting at '
        f"{band.low_usd_hour:,.2f} to {band.high_usd_hour:,.2f} USD/h for these GPUs"
    )
    words = {"holds": "holds", "below": "lower", "above": "higher", "never": "never"}
    regions: dict[RatedPrice, list[str]] = {}
    for price in band.prices:
        # The same price in several regions is one line.
        regions.setdefault(replace(price, rate=replace(price.rate, region="")), []).append(price.rate.region)
    for price, places in regions.items():
        used, rate = ("" if price.utilisation is None else f"{price.utilisation:.0%}"), price.rate
        verdict = f"{words[price.verdict]:<7}{used:>5}"
        typer.echo(f"  {rate.name:<16}{rate.as_of!s:<11}{rate.usd_hour:>8,.2f} USD/h  {verdict}  {', '.join(places)}")
    typer.echo("")
