"""Sections about a recorded demand: GPUs over time beside owned ones, the cheapest mix, waits and spending."""

from collections.abc import Sequence

from landbridge.economics.mix.study import Study
from landbridge.report.content import Bar, Curve, CurveLine, FigureRow, Section, Table
from landbridge.simulation.report import SimulationReport, WaitStatistics
from landbridge.timestamps import iso
from landbridge.trace import Demand

#: Parts of the period in a curve.
COLUMNS = 400
_WORDS = {
    "owned": "owned",
    "committed": "commitments",
    "capacity_block": "Capacity Blocks",
    "on_demand": "on demand",
    "spot": "spot",
}


def demand_section(study: Study) -> Section:
    """Return the demand over time with the owned GPUs, and the cheapest mix beside others."""
    demand, quotes, best = study.demand, study.quotes, study.best
    owned = best.use_of("owned").units * best.unit
    levels = [CurveLine("mean", demand.mean, 1)]
    levels += [CurveLine("owned in the cheapest mix", owned, 2)] if owned else []
    levels += [CurveLine("owned now", quotes.onprem_gpus, 3)] if quotes.onprem_gpus else []
    curve = Curve(
        "GPUs needed at once, if every job starts when it is eligible: the largest number in each part of the period",
        largest_values(demand, COLUMNS),
        iso(demand.times[0])[:10],
        iso(demand.times[-1])[:10],
        "GPUs",
        tuple(levels),
    )
    mixes = Table(
        "USD for the period of the trace",
        ("mix", "USD", "USD per GPU-hour", "owned GPUs"),
        tuple(
            FigureRow(
                name,
                (f"{mix.usd:,.0f}", f"{mix.usd_gpu_hour:.2f}", f"{mix.use_of('owned').units * mix.unit:,}"),
                Bar(0.0, mix.usd, 2 if mix is best else 1),
            )
            for name, mix in study.mixes.items()
        ),
    )
    uses = Table(
        "Cheapest mix by instrument",
        ("instrument", "nodes at once", "USD"),
        tuple(
            FigureRow(_WORDS[use.instrument], (f"{use.units:,}", f"{use.usd:,.0f}"), Bar(0.0, use.usd))
            for use in best.uses
        ),
    )
    dearest = max(study.mixes.items(), key=lambda pair: pair[1].usd)
    summary = (
        f"{study.jobs:,} jobs needed {demand.gpu_hours:,.0f} GPU-hours: {demand.mean:,.0f} GPUs on average, {demand.peak:,} at the peak.",
        f'The cheapest mix owns {owned:,} GPUs and costs {best.usd:,.0f} USD, {dearest[1].usd - best.usd:,.0f} USD less than "{dearest[0]}".'
        if dearest[1] is not best
        else f"The cheapest mix owns {owned:,} GPUs and costs {best.usd:,.0f} USD.",
    )
    sources = tuple(
        f"{_WORDS[quote.instrument]}: {quote.usd:,.2f} USD for an hour of {quotes.unit} GPUs; {quote.source}"
        + (f", {quote.as_of} ({quote.confidence})" if quote.as_of is not None else "")
        for quote in quotes.quotes
    )
    return Section("demand", "Demand and how much to own", summary, (curve, mixes, uses), sources)


def waits_section(report: SimulationReport) -> Section:
    """Return the waits with and without bursting, and the spending in AWS by account."""
    waits = Table(
        "Hours from submission to start",
        ("statistic", "with bursting", "without"),
        tuple(
            FigureRow(name, (f"{_hours(report.waits, field):,.1f}", f"{_hours(report.waits_without, field):,.1f}"), bar)
            for name, field in (("mean", "mean"), ("median", "p50"), ("95th percentile", "p95"), ("longest", "longest"))
            for bar in [Bar(0.0, _hours(report.waits, field), 2, _hours(report.waits_without, field))]
        ),
    )
    by_account: dict[str, float] = {}
    for item in report.spent:
        by_account[item.account] = by_account.get(item.account, 0.0) + item.usd
    spent = Table(
        "Spending in AWS by account",
        ("account", "USD"),
        (
            *(
                FigureRow(name or "no job (min_nodes)", (f"{usd:,.0f}",), Bar(0.0, usd))
                for name, usd in sorted(by_account.items(), key=lambda pair: -pair[1])
            ),
            FigureRow("all", (f"{report.usd:,.0f}",), is_total=True),
        ),
    )
    refused = "; ".join(f"{code} {jobs:,}" for code, jobs in sorted(report.refused.items()))
    summary = [
        f"{report.burst_jobs:,} of {report.jobs:,} jobs ran in AWS; the mean wait is {_hours(report.waits, 'mean'):,.1f} hours, "
        f"{_hours(report.waits_without, 'mean'):,.1f} without bursting. In the bars, the line is the wait without bursting."
    ]
    summary += [f"Jobs that AWS did not get, by reason: {refused}."] if refused else []
    return Section("waits", "Waits and spending", tuple(summary), (waits, spent), tuple(report.assumed))


def largest_values(demand: Demand, parts: int) -> tuple[float, ...]:
    """Return the largest value in each of `parts` equal parts of the period; empty for a period without length."""
    if demand.hours <= 0:
        return ()
    first, length = demand.times[0], (demand.times[-1] - demand.times[0]) / parts
    values = [0.0] * parts
    for number, gpus in enumerate(demand.gpus):
        begin = int((demand.times[number] - first) / length)
        end = int((demand.times[number + 1] - first) / length)
        for part in range(min(begin, parts - 1), min(end, parts - 1) + 1):
            values[part] = max(values[part], float(gpus))
    return tuple(values)


def _hours(waits: WaitStatistics, field: str) -> float:
    seconds: float = getattr(waits, field)
    return seconds / 3600


def assumptions(study: Study | None, texts: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the assumptions of the study of a demand and of others, each once."""
    from landbridge.economics.mix.study import ASSUMPTIONS

    return tuple(dict.fromkeys([*(ASSUMPTIONS if study is not None else ()), *texts]))
