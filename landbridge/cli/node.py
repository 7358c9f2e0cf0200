"""Commands `landbridge node`: list, explain, drain and resume nodes; add and remove them."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require
from landbridge.cli.node_members import add, remove

if TYPE_CHECKING:
    from landbridge.ops.nodes import ScontrolNode
    from landbridge.ops.scontrol import Scontrol

Hosts = Annotated[str, typer.Argument(help="Nodes as Slurm writes them: dgx01, or dgx[01-04].", metavar="NODES")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Reason for other users: the fault and a contact.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    node = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Nodes of a running cluster: list, explain, drain, resume, add, remove.",
    )
    node.callback()(lambda: None)
    node.command("list")(list_nodes)
    node.command()(why)
    node.command()(drain)
    node.command()(resume)
    node.command()(add)
    node.command()(remove)
    app.add_typer(node, name="node")


def list_nodes(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List all nodes, with the reason of each drained or down node. Exit status 1 when a health check found a fault."""
    node_rows = rows(scontrol_of(stack, file))
    if form is Format.JSON:
        print_json([{**asdict(row), "drained": row.drained} for row in node_rows])
    for row in node_rows if form is Format.TEXT else ():
        since = f"{row.since:%Y-%m-%d %H:%MZ} " if row.since and row.reason else ""
        typer.echo(f"{row.name:<16} {row.state.lower():<16} {since}{row.reason}".rstrip())
    raise typer.Exit(1 if any(row.check for row in node_rows if row.drained) else 0)


def why(nodes: Hosts, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Explain why nodes are out of service and how to return them to service."""
    from landbridge.ops.nodes import why as explain

    explanations = [explain(row) for row in _named(scontrol_of(stack, file), nodes)]
    if form is Format.JSON:
        print_json([asdict(explanation) for explanation in explanations])
        return
    for explanation in explanations:
        typer.echo(f"{explanation.node.name}: {explanation.node.state.lower()}")
        if explanation.node.reason:
            who = f", by {explanation.node.by}" if explanation.node.by else ""
            when = f", {explanation.node.since:%Y-%m-%d %H:%MZ}" if explanation.node.since else ""
            typer.echo(f"  reason   {explanation.node.reason}{who}{when}")
        typer.echo(f"  meaning  {explanation.meaning}")
        typer.echo(f"  to do    {explanation.step}")


def drain(nodes: Hosts, reason: Reason, stack: Stack = None, file: File = None) -> None:
    """Drain nodes: running jobs end, no others start. A health check does not resume a node that a person drained."""
    from landbridge.ops.nodes import refused_reason

    refused = refused_reason(reason)
    if refused is not None:
        raise typer.BadParameter(refused, param_hint="--reason")
    scontrol = scontrol_of(stack, file)
    _named(scontrol, nodes)
    _told(scontrol, ["update", f"nodename={nodes}", "state=drain", f"reason={reason}"])
    typer.echo(f"{nodes}: no further job starts; what runs there goes on")


def resume(nodes: Hosts, stack: Stack = None, file: File = None) -> None:
    """Resume drained nodes. This confirms that errors in their logs are dealt with; a fault that still shows drains
    them again.
    """
    scontrol = scontrol_of(stack, file)
    chosen = [row.name for row in _named(scontrol, nodes) if row.drained]
    if not chosen:
        typer.echo(f"{nodes}: nothing is drained")
        return
    # Not `resume`: that would call a node up that is down.
    _told(scontrol, ["update", f"nodename={','.join(chosen)}", "state=undrain"])
    typer.echo(f"{', '.join(chosen)}: back in service")


def scontrol_of(stack: str | None, file: "File") -> "Scontrol":
    """Return the scontrol of this host where no environment is named (on the controller), else that of the
    environment's controller.
    """
    from landbridge.ops import scontrol

    return scontrol.here if stack is None and file is None else scontrol.through(require(stack, file))


def rows(scontrol: "Scontrol", names: str | None = None) -> "tuple[ScontrolNode, ...]":
    """Return the nodes from Slurm; the program ends when Slurm does not answer."""
    from landbridge.ops.nodes import node_rows
    from landbridge.ops.scontrol import ScontrolError, show_nodes

    try:
        return node_rows(show_nodes(scontrol, names))
    except ScontrolError as error:
        typer.echo(f"landbridge: {error.args[0]}", err=True)
        raise typer.Exit(2) from None


def _named(scontrol: "Scontrol", nodes: str) -> "list[ScontrolNode]":
    """Return the rows of these nodes; the program ends for names that Slurm does not know."""
    from landbridge import hostlist
    from landbridge.ops.nodes import unknown

    try:
        names = hostlist.expand(nodes)
    except hostlist.HostlistError as error:
        raise typer.BadParameter(error.reason, param_hint="NODES") from None
    node_rows = rows(scontrol)
    strange = unknown(names, node_rows)
    if strange:
        typer.echo(f"landbridge: Slurm knows no {', '.join(strange)}", err=True)
        raise typer.Exit(2)
    return [row for row in node_rows if row.name in set(names)]


def _told(scontrol: "Scontrol", words: list[str]) -> None:
    from landbridge.ops.scontrol import ScontrolError

    try:
        scontrol(words)
    except ScontrolError as error:
        typer.echo(f"landbridge: {error.args[0]}", err=True)
        raise typer.Exit(2) from None
