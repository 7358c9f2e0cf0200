"""Group `landbridge place`: where a job may run, and where it runs best."""

import typer

from landbridge.cli.place import explain, simulate


def register(app: typer.Typer) -> None:
    """Add the commands."""
    place = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Placement: the site and purchase option of a job."
    )
    place.callback()(lambda: None)
    for module in (explain, simulate):
        module.register(place)
    app.add_typer(place, name="place")
