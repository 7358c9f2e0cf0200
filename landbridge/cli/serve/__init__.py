"""Group `landbridge serve`: services of served models."""

import typer

from landbridge.cli.serve import check, hosts, services, weights


def register(app: typer.Typer) -> None:
    """Add the commands."""
    serve = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Check, start, stop and scale served models.",
    )
    serve.callback()(lambda: None)
    for module in (services, weights, hosts, check):
        module.register(serve)
    app.add_typer(serve, name="serve")
