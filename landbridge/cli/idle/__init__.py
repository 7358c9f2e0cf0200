"""Group `landbridge idle`: jobs that do not use their GPUs."""

import typer

from landbridge.cli.idle import commands


def register(app: typer.Typer) -> None:
    """Add the commands."""
    idle = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="List jobs with idle GPUs, and apply the policy.",
    )
    idle.callback()(lambda: None)
    commands.register(idle)
    app.add_typer(idle, name="idle")
