"""Command `landbridge burst keep`."""

import getpass
import time
from datetime import timedelta
from typing import Annotated

import typer

from landbridge.cli.burst.common import ConfigFile, Form, controller
from landbridge.cli.burst.queries import UNITS
from landbridge.cli.common import Format, print_json

NodeList = Annotated[str, typer.Argument(metavar="NODES", help="Nodes of pools, as a host list: p5-[1-4].")]
For = Annotated[str | None, typer.Option("--for", metavar="TIME", help="How long: 90m, 4h, 2d; at most 7d.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Reason, shown by `landbridge burst status`.")]
Release = Annotated[bool, typer.Option("--release", help="End the keep of the nodes.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(keep)


def keep(
    nodes: NodeList,
    for_: For = None,
    reason: Reason = None,
    release: Release = False,
    config: ConfigFile = None,
    form: Form = Format.TEXT,
) -> None:
    """Keep nodes up for a time, also without a job.

    Slurm does not suspend them. They cost money: the launching account's, until a hard budget, the time, --release or a power-down ends the keep.
    Examples: landbridge burst keep p5-[1-4] --for 4h --reason "debug NCCL"; landbridge burst keep --release p5-[1-4]
    """
    from landbridge.burst.model import DecisionRecord, NodeKeep
    from landbridge.burst.operator import edits
    from landbridge.burst.slurm import slurm
    from landbridge.burst.slurm.suspend_exclusions import kept_nodes_of
    from landbridge.hostlist import HostlistError, expand
    from landbridge.timestamps import iso

    try:
        names = list(dict.fromkeys(expand(nodes)))
    except HostlistError as error:
        raise typer.BadParameter(str(error), param_hint="NODES") from None
    now, by = time.time(), getpass.getuser()
    if release is (for_ is not None) or (not release and not reason):
        raise typer.BadParameter("give --for and --reason, or --release", param_hint="--for")
    until = now + (_seconds(for_) if for_ is not None else 0.0)
    with controller(config) as (burst_config, store):
        if release:
            change = edits.release(names, kept_nodes_of(slurm.suspend_exclusions(), names), now)
            text = "Slurm suspends them when they are idle"
        else:
            new = NodeKeep(until, now, reason or "", by)
            change = edits.keep(burst_config.policy, slurm.view(burst_config.policy, pending=()).nodes, names, new)
            text = f"not suspended before {iso(until)}; they cost money also without a job"
        event = "release" if release else "keep"
        record = DecisionRecord(now, event, nodes=tuple(names), text=reason or "", details={"by": by})
        edits.edit(store, burst_config.socket, change, record)
    if form is Format.JSON:
        print_json({"nodes": names, "until": None if release else iso(until)})
    else:
        typer.echo(f"{nodes}: {text}")


def _seconds(text: str) -> float:
    """Parse `--for`."""
    if not (text[:-1].isdigit() and text[-1] in UNITS):
        raise typer.BadParameter(f"{text} is not 90m, 4h or 2d", param_hint="--for")
    return timedelta(**{UNITS[text[-1]]: int(text[:-1])}).total_seconds()
