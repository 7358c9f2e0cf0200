"""Group `landbridge serve`: services of served models."""

import typer

from landbridge.cli.serve import check, hosts, services, weights


def register(app: typer.Typer) -> None:
    """Add the commands."""
    serve = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="List, check, start and stop served models, and move their traffic.",
    )
    serve.callback()(lambda: None)
    for module in (services, weights, hosts, check):
        module.register(serve)
    app.add_typer(serve, name="serve")
