"""Commands `landbridge node drain` and `resume`."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Stack
from landbridge.cli.node.common import Hosts, named_rows, scontrol_of, update

Reason = Annotated[str, typer.Option("--reason", "-r", help="Reason for other users: the fault and a contact.")]


def register(node: typer.Typer) -> None:
    """Add the commands."""
    node.command()(drain)
    node.command()(resume)


def drain(nodes: Hosts, reason: Reason, stack: Stack = None, file: File = None) -> None:
    """Drain nodes: running jobs continue, no further job starts. A health check does not resume
    a node that an operator drained."""
    from landbridge.ops.nodes import refused_reason

    refused = refused_reason(reason)
    if refused is not None:
        raise typer.BadParameter(refused, param_hint="--reason")
    scontrol = scontrol_of(stack, file)
    named_rows(scontrol, nodes)
    update(scontrol, ["update", f"nodename={nodes}", "state=drain", f"reason={reason}"])
    typer.echo(f"{nodes}: no further job starts; running jobs continue")


def resume(nodes: Hosts, stack: Stack = None, file: File = None) -> None:
    """Resume drained nodes. This confirms that errors in their logs are resolved; a fault that still exists drains
    them again.
    """
    scontrol = scontrol_of(stack, file)
    chosen = [row.name for row in named_rows(scontrol, nodes) if row.drained]
    if not chosen:
        typer.echo(f"{nodes}: nothing is drained")
        return
    # Not `resume`: it would set a node up that is down.
    update(scontrol, ["update", f"nodename={','.join(chosen)}", "state=undrain"])
    typer.echo(f"{', '.join(chosen)}: back in service")
