"""Commands `landbridge health status` and `why`."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require

if TYPE_CHECKING:
    from pathlib import Path

    from landbridge.environment import Environment
    from landbridge.ops.gpu_health.values import HealthJournal

Node = Annotated[str, typer.Argument(help="Node: dgx01.", metavar="NODE")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(health: typer.Typer) -> None:
    """Add the commands."""
    health.command()(status)
    health.command()(why)


def opened(environment: "Environment") -> "tuple[Path, HealthJournal]":
    """Return the folder of the journal, and the journal; exit with status 2 if it cannot be read."""
    from landbridge.ops.gpu_health.journal import HealthJournalError, load_journal
    from landbridge.paths import state_dir

    folder = state_dir(environment.name)
    try:
        return folder, load_journal(folder)
    except HealthJournalError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None


def status(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List nodes whose GPUs are not healthy. Exit status 1 if a node waits for an operator."""
    from landbridge import timestamps
    from landbridge.ops.gpu_health.values import HealthState

    _, journal = opened(require(stack, file))
    rows = [record for _, record in sorted(journal.records.items()) if record.state is not HealthState.HEALTHY]
    if form is Format.JSON:
        print_json({"nodes": [asdict(record) for record in rows], "repairs": journal.repairs})
    else:
        for record in rows:
            note = " (in service: failure budget)" if record.withheld else ""
            since = timestamps.iso(record.since)
            typer.echo(f"{record.node:<16} {record.state:<12} {since} {record.detail}{note}".rstrip())
        if not rows:
            typer.echo(f"{len(journal.records)} nodes, none with a fault")
    raise typer.Exit(1 if any(record.state.is_final or record.withheld for record in rows) else 0)


def why(node: Node, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Explain the state of a node's GPUs, with its changes."""
    from landbridge import timestamps
    from landbridge.ops.gpu_health.journal import CHANGES
    from landbridge.ops.gpu_health.meaning import MEANINGS

    folder, journal = opened(require(stack, file))
    record = journal.records.get(node)
    if record is None:
        typer.echo(f"landbridge: no pass of landbridge health step has observed {node}", err=True)
        raise typer.Exit(2)
    log = folder / CHANGES
    lines = log.read_text().splitlines() if log.exists() else []
    changes: list[dict[str, Any]] = [entry for line in lines if (entry := json.loads(line))["node"] == node]
    repairs = {gpu: [timestamps.iso(at) for at in journal.repairs.get(gpu, ())] for gpu in record.gpus}
    meaning, step = MEANINGS[record.state]
    if form is Format.JSON:
        print_json(
            {**asdict(record), "meaning": meaning, "to_do": step, "changes": changes, "repairs_of_gpus": repairs}
        )
        return
    typer.echo(f"{node}: {record.state} since {timestamps.iso(record.since)}")
    typer.echo(f"  fault    {record.detail or 'none'}")
    typer.echo(f"  meaning  {'in service with a fault: the failure budget is used' if record.withheld else meaning}")
    typer.echo(f"  to do    {step}")
    for gpu, times in repairs.items():
        typer.echo(f"  GPU      {gpu}, {len(times)} repairs{': ' + ', '.join(times) if times else ''}")
    for change in changes:
        typer.echo(f"  {change['at']}  {change['from']} -> {change['to']}  {change['detail']}".rstrip())
