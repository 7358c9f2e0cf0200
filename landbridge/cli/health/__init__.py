"""Group `landbridge health`: state and repair of the nodes' GPUs."""

import typer

from landbridge.cli.health import queries, records, steps


def register(app: typer.Typer) -> None:
    """Add the commands."""
    health = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Show, explain, repair and report faulty GPUs.",
    )
    health.callback()(lambda: None)
    for module in (queries, steps, records):
        module.register(health)
    app.add_typer(health, name="health")
