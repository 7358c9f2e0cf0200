"""Command `landbridge report`: one page about costs, for people who decide."""

import gc
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, FindingsError, Stack, exit_code, print_findings, require, require_trace
from landbridge.cli.cost.common import Utilisation, default_utilisation

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.report.content import Section

Trace = Annotated[
    Path | None,
    typer.Option(help="Recorded jobs: CSV with a header, output of sacct, a list in JSON, or `squeue --json`."),
]
Out = Annotated[Path, typer.Option(help="File to write; it is replaced.")]
Months = Annotated[float, typer.Option(min=1, max=600, help="Months over which owning and renting are compared.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    stack: Stack = None,
    file: File = None,
    trace: Trace = None,
    out: Out = Path("report.html"),
    months: Months = 36,
    utilisation: Utilisation = None,
) -> None:
    """Write one HTML page about the costs of an environment.

    Bill, owning beside renting, break-even and sensitivity; with a trace also demand, the cheapest mix and waits.
    The page has no script and refers to no other file.

    Example: landbridge report -s hybrid --trace jobs.csv --out report.html
    """
    from landbridge.economics.comparison import comparisons
    from landbridge.economics.goodput import losses
    from landbridge.environment import Goodput
    from landbridge.plan.cost import spend
    from landbridge.report.bill import bill
    from landbridge.report.content import Report
    from landbridge.report.ownership import ownership
    from landbridge.report.page import html

    environment = require(stack, file)
    used = utilisation if utilisation is not None else default_utilisation()
    goodput = losses(environment.onprem.costs.goodput if environment.onprem is not None else Goodput()).goodput
    sections = [bill(spend(environment)), *ownership(comparisons(environment), months, used, goodput)]
    assumed: tuple[str, ...] = ()
    if trace is not None:
        recorded, assumed = _recorded(environment, trace)
        sections += recorded
    day = datetime.fromtimestamp(time.time(), UTC).date()
    new = out.with_name(f".{out.name}.{os.getpid()}")
    new.write_text(html(Report(environment.name, str(day), tuple(sections), assumed)), encoding="utf-8")
    new.replace(out)
    typer.echo(f"wrote {out}: {', '.join(section.title for section in sections)}")


def _recorded(environment: "Environment", path: Path) -> "tuple[list[Section], tuple[str, ...]]":
    """Return the sections about a trace; print its findings and exit if it cannot be read."""
    from landbridge.cli.display.replays import replays
    from landbridge.economics.mix.quotes import GivenRates, quotes_of
    from landbridge.economics.mix.study import study_of
    from landbridge.report.history import assumptions, demand_section, waits_section
    from landbridge.simulation.mapping import AccountMapping, simulated_jobs
    from landbridge.simulation.report import report as simulation_report
    from landbridge.simulation.scenario import scenario_of

    jobs = require_trace(path)
    quotes = quotes_of(environment, None, GivenRates())
    if quotes.prices is None:
        print_findings(quotes.findings)
        raise typer.Exit(exit_code(quotes.findings))
    try:
        study = study_of(jobs.jobs, quotes, time.time())
    except FindingsError as error:
        print_findings(error.findings)
        raise typer.Exit(exit_code(error.findings)) from None
    print_findings(study.findings)
    # The replay creates no garbage with reference cycles, and the search for it would take a fifth of the time.
    gc.disable()
    scenario = scenario_of(environment)
    tasks = simulated_jobs(jobs.jobs, scenario.policy, AccountMapping())
    without, bursting = replays(scenario, tasks)
    simulation = simulation_report(scenario, bursting, without)
    return [demand_section(study), waits_section(simulation)], assumptions(study, simulation.assumed)
