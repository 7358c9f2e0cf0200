"""Text of a replay's report: waits, GPU hours, refusals, nodes and cost."""

import typer

from landbridge.simulation.report import SimulationReport


def print_text(simulation: SimulationReport) -> None:
    """Print a report of a replay."""
    echo = typer.echo
    echo(
        f"{simulation.environment}: {simulation.jobs:,} jobs, {simulation.onprem_gpus} GPUs on-prem, up to {simulation.cloud_gpus} in AWS"
    )
    echo(f"\n{'hours of waiting':24}{'mean':>10}{'p50':>10}{'p95':>10}{'longest':>10}   until all had run")
    for words, waits, days in (
        ("with bursting", simulation.waits, simulation.days),
        ("without", simulation.waits_without, simulation.days_without),
    ):
        hours = "".join(f"{_hours(value):>10}" for value in (waits.mean, waits.p50, waits.p95, waits.longest))
        echo(f"  {words:22}{hours}   {days:,.0f} days")
    echo(
        f"\n{'GPU hours of jobs':24}{simulation.gpu_hours_onprem:>14,.0f} on-prem{simulation.gpu_hours_aws:>14,.0f} in AWS"
    )
    echo(f"{'jobs that ran in AWS':24}{simulation.burst_jobs:>14,}")
    if simulation.never:
        echo(f"{'jobs that fit no node':24}{simulation.never:>14,}")
    for code, jobs in simulation.refused.items():
        echo(f"{'refused: ' + code:24}{jobs:>14,} jobs")
    _interruptions(simulation)
    for pool, nodes in simulation.peak_nodes.items():
        hours = f"{simulation.node_hours_aws.get(pool, 0.0):,.0f}"
        echo(
            f"{'pool ' + pool:24}{nodes:>14} nodes at once, {simulation.launches[pool]:,} launched, {hours} node hours"
        )
    echo(f"\n{'spent in AWS, US dollars':24}{simulation.usd:>14,.0f}")
    for item in simulation.spent:
        echo(f"  {item.month}  {item.account or '(kept nodes)':14}{item.pool:12}{item.usd:>10,.0f}")
    _both_sites(simulation)
    echo("\nassumed: " + ";\n  ".join(simulation.assumed))


def _interruptions(simulation: SimulationReport) -> None:
    if not simulation.interruptions:
        return
    for pool, count in simulation.interruptions.items():
        typer.echo(f"{'interrupted: ' + (pool or 'on-prem'):24}{count:>14,} nodes")
    typer.echo(f"{'jobs started again':24}{simulation.restarts:>14,}")
    typer.echo(f"{'GPU hours repeated':24}{simulation.lost_gpu_hours:>14,.0f}")
    if simulation.unfinished:
        typer.echo(f"{'jobs not finished':24}{simulation.unfinished:>14,}")


def _both_sites(simulation: SimulationReport) -> None:
    """Print the cost of both sites beside that without AWS."""
    bursting, without = simulation.both_sites, simulation.both_sites_without
    if bursting is None or without is None:
        return
    echo = typer.echo
    echo(f"\n{'both sites, US dollars':36}{'with bursting':>16}{'without':>16}")
    words = f"  {simulation.onprem_gpus} GPUs on-prem at {bursting.usd_gpu_hour:g}"
    echo(f"{words:36}{bursting.onprem:>16,.0f}{without.onprem:>16,.0f}")
    echo(f"{'  AWS':36}{bursting.aws:>16,.0f}{without.aws:>16,.0f}")
    echo(f"{'  both':36}{bursting.total:>16,.0f}{without.total:>16,.0f}")
    echo(f"{'  a GPU hour of finished work':36}{bursting.a_gpu_hour:>16,.2f}{without.a_gpu_hour:>16,.2f}")


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.2f}" if seconds < 36_000 else f"{seconds / 3600:,.0f}"
