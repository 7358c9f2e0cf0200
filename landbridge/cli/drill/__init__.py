"""Group `landbridge drill`: drills of disaster recovery."""

import typer

from landbridge.cli.drill import site_loss


def register(app: typer.Typer) -> None:
    """Add the commands."""
    drill = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Drills of disaster recovery.")
    drill.callback()(lambda: None)
    site_loss.register(drill)
    app.add_typer(drill, name="drill")
