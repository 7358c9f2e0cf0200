"""Group `landbridge data`: datasets in the buckets of their data classes, and in folders of the site."""

import typer

from landbridge.cli.data import collect, cost, listing, put, stage, status, verify


def register(app: typer.Typer) -> None:
    """Add the commands."""
    data = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Move datasets between the site and AWS. Versions never change and are verified; prices are shown before.",
    )
    data.callback()(lambda: None)
    for module in (put, stage, verify, listing, status, collect, cost):
        module.register(data)
    app.add_typer(data, name="data")
