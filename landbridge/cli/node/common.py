"""Shared code of `landbridge node`: scontrol of the controller, rows of nodes, and error messages."""

from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, require

if TYPE_CHECKING:
    from landbridge.ops.nodes import ScontrolNode
    from landbridge.ops.scontrol import Scontrol

Hosts = Annotated[str, typer.Argument(help="Slurm host list: dgx01, or dgx[01-04].", metavar="NODES")]


def scontrol_of(stack: str | None, file: "File") -> "Scontrol":
    """Return the scontrol of this host without an environment (on the controller), else the scontrol of the
    environment's controller.
    """
    from landbridge.ops import scontrol

    return scontrol.local if stack is None and file is None else scontrol.over_ssh(require(stack, file))


def rows(scontrol: "Scontrol", names: str | None = None) -> "tuple[ScontrolNode, ...]":
    """Return the nodes from Slurm; exit with status 2 if Slurm does not answer."""
    from landbridge.ops.nodes import node_rows
    from landbridge.ops.scontrol import ScontrolError, show_nodes

    try:
        return node_rows(show_nodes(scontrol, names))
    except ScontrolError as error:
        typer.echo(f"landbridge: {error.args[0]}", err=True)
        raise typer.Exit(2) from None


def named_rows(scontrol: "Scontrol", nodes: str) -> "list[ScontrolNode]":
    """Return the rows of these nodes; exit with status 2 for names that Slurm does not know."""
    from landbridge import hostlist
    from landbridge.ops.nodes import unknown

    try:
        names = hostlist.expand(nodes)
    except hostlist.HostlistError as error:
        raise typer.BadParameter(error.reason, param_hint="NODES") from None
    node_rows = rows(scontrol)
    unknown_names = unknown(names, node_rows)
    if unknown_names:
        typer.echo(f"landbridge: Slurm knows no {', '.join(unknown_names)}", err=True)
        raise typer.Exit(2)
    return [row for row in node_rows if row.name in set(names)]


def update(scontrol: "Scontrol", words: list[str]) -> None:
    """Run scontrol; exit with status 2 if it fails."""
    from landbridge.ops.scontrol import ScontrolError

    try:
        scontrol(words)
    except ScontrolError as error:
        typer.echo(f"landbridge: {error.args[0]}", err=True)
        raise typer.Exit(2) from None
