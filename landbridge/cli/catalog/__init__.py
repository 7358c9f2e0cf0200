"""Group `landbridge catalog`: facts of instance types and regions, and their comparison with EC2."""

import typer

from landbridge.cli.catalog import queries, refresh


def register(app: typer.Typer) -> None:
    """Add the commands."""
    catalog = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Catalogue of AWS: instance types and regions."
    )
    catalog.callback()(lambda: None)
    for module in (queries, refresh):
        module.register(catalog)
    app.add_typer(catalog, name="catalog")
