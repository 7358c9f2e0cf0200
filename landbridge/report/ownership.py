"""Sections about owned nodes: total cost beside renting, break-even, and sensitivity to each input."""

from collections.abc import Iterator, Sequence

from landbridge.economics.breakeven import breakeven_months, breakeven_utilisation, surface
from landbridge.economics.cloud_rates import CloudRate
from landbridge.economics.comparison import Comparison, option_costs
from landbridge.economics.tornado import tornado
from landbridge.plan.cost.owned_node import onprem_node_hour
from landbridge.report.content import Bar, FigureRow, Grid, Section, Table

UTILISATIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MONTHS = (6, 12, 18, 24, 36, 48, 60)
#: Inputs of a sensitivity that are shown, the largest effects first.
MAX_INPUTS = 10


def ownership(
    comparisons: Sequence[Comparison], months: float, utilisation: float, goodput: float
) -> tuple[Section, ...]:
    """Return the sections for each kind of owned nodes with a price; one section that says so if there is none."""
    if not comparisons:
        text = "The environment has no owned node with a known price, so owning and renting are not compared."
        return (Section("owned", "Owning and renting", (text,)),)
    total = Section(
        "owned",
        "Owning and renting",
        tuple(_verdict(comparison, months, utilisation, goodput) for comparison in comparisons),
        tuple(table for item in comparisons for table in _totals(item, months, utilisation, goodput)),
        tuple(dict.fromkeys(source for comparison in comparisons for source in _sources(comparison))),
    )
    grids = tuple(grid for comparison in comparisons for grid in _grids(comparison))
    lines = tuple(line for comparison in comparisons for line in _breakevens(comparison, utilisation))
    even = Section("break-even", "Break-even", lines, grids)
    bars = tuple(_sensitivity(comparison, utilisation) for comparison in comparisons)
    text = f"One input at a time is moved over its published range, at {utilisation:.0%} utilisation; the line is the present result."
    return total, even, Section("sensitivity", "Sensitivity", (text,), bars)


def _verdict(comparison: Comparison, months: float, utilisation: float, goodput: float) -> str:
    owned, *rented = option_costs(comparison, months, utilisation, goodput)
    nodes = f"{comparison.nodes} {comparison.group.platform}"
    if not rented:
        return f"{nodes}: {owned.usd:,.0f} USD in {months:g} months; no price of renting is known."
    cheapest = min(rented, key=lambda option: option.usd)
    word = "less" if owned.usd < cheapest.usd else "more"
    difference = abs(cheapest.usd - owned.usd)
    return (
        f"{nodes} at {utilisation:.0%} utilisation cost {owned.usd:,.0f} USD in {months:g} months, {difference:,.0f} USD {word} than "
        f"the cheapest rented {comparison.instance} ({cheapest.name}, price of {cheapest.rate.as_of if cheapest.rate else ''})."
    )


def _totals(comparison: Comparison, months: float, utilisation: float, goodput: float) -> Iterator[Table]:
    options = option_costs(comparison, months, utilisation, goodput)
    rows = tuple(
        FigureRow(
            option.name,
            (
                f"{option.usd:,.0f}",
                f"{option.usd_used_gpu_hour:.2f}",
                "-" if option.usd_finished_gpu_hour is None else f"{option.usd_finished_gpu_hour:.2f}",
            ),
            Bar(0.0, option.usd, 1 if option.rate is None else 2),
        )
        for option in options
    )
    name = f"{comparison.nodes} x {comparison.group.platform}"
    caption = f"{name}: {months:g} months for the same used GPU-hours"
    yield Table(caption, ("place", "USD", "USD per used GPU-hour", "per finished GPU-hour"), rows)
    hour = onprem_node_hour(comparison.inputs, utilisation)
    terms = [FigureRow(term, (f"{usd:,.2f}",), Bar(0.0, usd)) for term, usd in hour.terms.items()]
    yield Table(
        f"{name}: an hour of one node by term",
        ("term", "USD"),
        (*terms, FigureRow("all", (f"{hour.usd:,.2f}",), is_total=True)),
    )


def _breakevens(comparison: Comparison, utilisation: float) -> Iterator[str]:
    for rate in comparison.rates:
        used = breakeven_utilisation(comparison.inputs, rate.usd_hour)
        months = breakeven_months(comparison.inputs, rate.usd_hour, utilisation)
        share = "at no utilisation" if used is None else f"above {used:.0%} utilisation"
        recovered = "is never recovered" if months is None else f"is recovered after {months:.1f} months"
        yield (
            f"{comparison.group.platform} against {rate.name} at {rate.usd_hour:,.2f} USD an hour (price of {rate.as_of}): owning costs "
            f"less {share}; at {utilisation:.0%} the purchase {recovered}."
        )


def _grids(comparison: Comparison) -> Iterator[Grid]:
    for usd_hour in dict.fromkeys(rate.usd_hour for rate in comparison.rates):
        yield _grid(comparison, next(rate for rate in comparison.rates if rate.usd_hour == usd_hour))


def _grid(comparison: Comparison, rate: CloudRate) -> Grid:
    cells = surface(comparison.inputs, [rate], UTILISATIONS, MONTHS)
    rows = tuple(
        (f"{used:.0%}", tuple(cell.saving_usd / 1000 for cell in cells if cell.utilisation == used))
        for used in UTILISATIONS
    )
    return Grid(
        f"{comparison.group.platform}: saving of owning one node instead of {rate.name}, in 1,000 USD",
        "used",
        tuple(f"{months} months" for months in MONTHS),
        rows,
        "owning costs less",
        "renting costs less",
    )


def _sensitivity(comparison: Comparison, utilisation: float) -> Table:
    rows = tuple(
        FigureRow(
            bar.name,
            (f"{bar.low:g} to {bar.high:g} {bar.unit}", f"{bar.usd_low:.2f}", f"{bar.usd_high:.2f}"),
            Bar(bar.usd_low, bar.usd_high, 3, bar.usd_base),
        )
        for bar in tornado(comparison.group, utilisation)[:MAX_INPUTS]
    )
    caption = f"{comparison.group.platform}: USD per used GPU-hour with one input at the ends of its published range"
    return Table(caption, ("input", "range", "at low", "at high"), rows)


def _sources(comparison: Comparison) -> Iterator[str]:
    for term, source in comparison.group.sources.items():
        when = f", {source.as_of}" if source.as_of is not None else ""
        yield f"{term}: {source.source}{when} ({source.confidence})"
    for rate in comparison.rates:
        yield f"{rate.instance}, {rate.name}: {rate.source}, {rate.as_of} ({rate.confidence})"
