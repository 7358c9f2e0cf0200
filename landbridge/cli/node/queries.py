"""Commands `landbridge node list` and `why`."""

from dataclasses import asdict
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.node.common import Hosts, named_rows, rows, scontrol_of

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(node: typer.Typer) -> None:
    """Add the commands."""
    node.command("list")(list_nodes)
    node.command()(why)


def list_nodes(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List all nodes, with the reason of each drained or down node. Exit status 1 if a health check found a fault."""
    node_rows = rows(scontrol_of(stack, file))
    if form is Format.JSON:
        print_json([{**asdict(row), "drained": row.drained} for row in node_rows])
    for row in node_rows if form is Format.TEXT else ():
        since = f"{row.since:%Y-%m-%d %H:%MZ} " if row.since and row.reason else ""
        typer.echo(f"{row.name:<16} {row.state.lower():<16} {since}{row.reason or row.withheld}".rstrip())
    raise typer.Exit(1 if any(row.withheld or (row.check and row.drained) for row in node_rows) else 0)


def why(nodes: Hosts, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Explain why nodes are out of service, and the remedy."""
    from landbridge.ops.nodes import why as explain

    explanations = [explain(row) for row in named_rows(scontrol_of(stack, file), nodes)]
    if form is Format.JSON:
        print_json([asdict(explanation) for explanation in explanations])
        return
    for explanation in explanations:
        typer.echo(f"{explanation.node.name}: {explanation.node.state.lower()}")
        if explanation.node.reason:
            author = f", by {explanation.node.by}" if explanation.node.by else ""
            date = f", {explanation.node.since:%Y-%m-%d %H:%MZ}" if explanation.node.since else ""
            typer.echo(f"  reason   {explanation.node.reason}{author}{date}")
        typer.echo(f"  meaning  {explanation.meaning}")
        typer.echo(f"  to do    {explanation.step}")
