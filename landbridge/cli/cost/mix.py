"""Command `landbridge cost mix`: how much to own, from a recorded job history. Runs on any machine without network access."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    FindingsError,
    Format,
    Stack,
    exit_code,
    print_findings,
    print_json,
    require,
    require_trace,
)
from landbridge.cli.cost.own_prices import OwnPrices, use_price_book

if TYPE_CHECKING:
    from landbridge.economics.mix.result import Mix
    from landbridge.economics.mix.study import Study

Jobs = Annotated[
    Path,
    typer.Argument(
        metavar="TRACE",
        help="Output of `sacct -aXPn -o JobIDRaw,User,Account,Partition,QOS,Submit,Start,End,State,ElapsedRaw,NNodes,"
        "AllocTRES,ReqTRES,Constraints,Eligible`, a CSV (timestamp,duration,num_gpus), JSON, or `squeue --json`.",
    ),
]
Pool = Annotated[str | None, typer.Option(help="Pool whose instance type is bought; default: the first with GPUs.")]
Owned = Annotated[
    float | None,
    typer.Option(min=0, help="Cost of an owned GPU for an hour, used or not, with power, space, network and staff."),
]
OwnedMax = Annotated[
    int | None, typer.Option(min=0, help="Maximum number of owned GPUs, such as the limit of the room's power.")
]
Kind = Annotated[
    str | None,
    typer.Option(metavar="TYPE", help="Only the jobs with GPUs of this type, such as h100 in gres/gpu:h100."),
]
Committed = Annotated[
    float | None, typer.Option(min=0, help="Savings Plan or reserved instance: USD of one instance for an hour.")
]
Plan = Annotated[
    str | None,
    typer.Option(
        metavar="PLAN:YEARS:PAYMENT",
        help="Savings Plan of the price book, such as compute:3y:no_upfront; default: one year, without upfront payment.",
    ),
]
Block = Annotated[float | None, typer.Option(min=0, help="Capacity Block: USD of one instance for an hour.")]
OnDemand = Annotated[float | None, typer.Option(min=0, help="On demand: USD of one instance for an hour.")]
Spot = Annotated[float | None, typer.Option(min=0, help="Spot: USD of one instance for an hour.")]
Interruptions = Annotated[
    float | None,
    typer.Option(min=0, help="Spot interruptions of a job in one hour; without it spot instances are left out."),
]
LostHours = Annotated[
    float,
    typer.Option(min=0, help="Hours of work lost by an interruption: half a checkpoint interval, and the restart."),
]
SpotShare = Annotated[float, typer.Option(min=0, max=1, help="Share of the jobs that may run on spot instances.")]
Today = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], help="First day on which Capacity Blocks are bought; default: now."),
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
#: Purchases in the text; JSON has all of them.
MAX_BLOCKS = 15
_WORDS = {
    "owned": "owned",
    "committed": "committed",
    "capacity_block": "Capacity Blocks",
    "on_demand": "on demand",
    "spot": "spot",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mix)


def mix(
    trace: Jobs,
    stack: Stack = None,
    file: File = None,
    pool: Pool = None,
    kind: Kind = None,
    owned_usd_gpu_hour: Owned = None,
    owned_max_gpus: OwnedMax = None,
    committed_usd_hour: Committed = None,
    savings_plan: Plan = None,
    block_usd_hour: Block = None,
    on_demand_usd_hour: OnDemand = None,
    spot_usd_hour: Spot = None,
    spot_interruptions_per_hour: Interruptions = None,
    lost_hours: LostHours = 0.5,
    spot_share: SpotShare = 1.0,
    today: Today = None,
    prices: OwnPrices = None,
    form: Form = Format.TEXT,
) -> None:
    """Print the cheapest mix of owned and rented GPUs.

    Prints the mix for a recorded demand, and the Capacity Blocks to buy now. A price that is not known is a finding, and its instrument is left out. Example:
    landbridge cost mix jobs.txt -s hybrid --owned-usd-gpu-hour 2.73
    """
    from landbridge.economics.mix.quotes import GivenRates, quotes_of
    from landbridge.economics.mix.study import study_of

    use_price_book(prices)
    environment = require(stack, file)
    jobs = require_trace(trace, kind)
    given = GivenRates(
        owned_usd_gpu_hour,
        committed_usd_hour,
        block_usd_hour,
        on_demand_usd_hour,
        spot_usd_hour,
        spot_interruptions_per_hour,
        lost_hours,
        owned_max_gpus,
        savings_plan,
    )
    quotes = quotes_of(environment, pool, given)
    if quotes.prices is None:
        print_findings(quotes.findings)
        raise typer.Exit(exit_code(quotes.findings))
    now = time.time() if today is None else today.replace(tzinfo=UTC).timestamp()
    try:
        study = study_of(jobs.jobs, quotes, now, spot_share)
    except FindingsError as error:
        print_findings(error.findings)
        raise typer.Exit(exit_code(error.findings)) from None
    if form is Format.JSON:
        print_json({"environment": environment.name, **study.as_data()})
        return
    print_findings(study.findings)
    _text(environment.name, study)


def _text(name: str, study: "Study") -> None:
    from landbridge.economics.mix.study import ASSUMPTIONS

    echo, demand, quotes = typer.echo, study.demand, study.quotes
    echo(f"{name}: {study.jobs:,} jobs, {demand.gpu_hours:,.0f} GPU hours in {demand.hours:,.0f} hours")
    echo(
        f"GPUs needed at once: mean {demand.mean:,.0f}, p50 {demand.quantile(0.5):,}, p95 {demand.quantile(0.95):,},"
        f" p99 {demand.quantile(0.99):,}, peak {demand.peak:,}; the site has {quotes.onprem_gpus:,}"
    )
    echo(f"\nUSD for an hour of {quotes.unit} GPUs, as many as {quotes.instance} has")
    for quote in quotes.quotes:
        when = f"{quote.as_of}, {quote.confidence}: " if quote.as_of is not None else ""
        echo(f"  {_WORDS[quote.instrument]:16}{quote.usd:>10,.2f}   {when}{quote.source}")
    echo(f"\n{'':20}{'USD':>14}{'a GPU hour':>12}{'owned GPUs':>12}")
    for words, mix in study.mixes.items():
        owned = mix.use_of("owned").units * mix.unit
        echo(f"  {words:18}{mix.usd:>14,.0f}{mix.usd_gpu_hour:>12,.2f}{owned:>12,}")
    echo(f"\n{'cheapest mix':20}{'nodes':>10}{'hours paid':>14}{'hours used':>14}{'USD':>14}")
    for use in study.best.uses:
        echo(
            f"  {_WORDS[use.instrument]:18}{use.units:>10,}{use.hours:>14,.0f}{use.used_hours:>14,.0f}{use.usd:>14,.0f}"
        )
    _plan(study, study.best)
    echo("\nassumed: " + ";\n  ".join(ASSUMPTIONS))


def _plan(study: "Study", best: "Mix") -> None:
    plan = study.plan
    if plan is None:
        return
    base_units = best.use_of("owned").units + best.use_of("committed").units
    echo = typer.echo
    echo(
        f"\nCapacity Blocks to buy above {base_units * best.unit:,} owned or committed GPUs, if the demand of"
        f" {_day(plan.start - plan.shift)} to {_day(plan.end - plan.shift)} returns"
    )
    if plan.blocks:
        echo(f"  {'11:30 UTC':12}{'until':12}{'days':>6}{'instances':>12}{'USD in advance':>18}")
    for block in plan.blocks[:MAX_BLOCKS]:
        echo(f"  {_day(block.start):12}{_day(block.end):12}{block.days:>6}{block.units:>12}{block.usd:>18,.0f}")
    if len(plan.blocks) > MAX_BLOCKS:
        echo(f"  and {len(plan.blocks) - MAX_BLOCKS} more: --format json has all")
    if plan.blocks:
        echo(f"  {plan.usd:,.0f} USD in all; {plan.saved_usd:,.0f} USD less than without them")
    else:
        echo("  none: at these prices no block costs less than on demand")
    echo(f"  look again on {_day(plan.again)}, when a week more can be booked, and when a price changes")


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
