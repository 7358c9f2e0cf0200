"""Group `landbridge node`: nodes of a running cluster."""

import typer

from landbridge.cli.node import edits, members, queries


def register(app: typer.Typer) -> None:
    """Add the commands."""
    node = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="List, explain, drain, resume, add and remove nodes.",
    )
    node.callback()(lambda: None)
    for module in (queries, edits, members):
        module.register(node)
    app.add_typer(node, name="node")
