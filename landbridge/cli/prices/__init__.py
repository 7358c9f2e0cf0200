"""Group `landbridge prices`: checks of the dated prices, and their refresh from AWS."""

import typer

from landbridge.cli.prices import book_check, refresh


def register(app: typer.Typer) -> None:
    """Add the commands."""
    prices = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Dated prices: their checks, and refresh from AWS."
    )
    prices.callback()(lambda: None)
    for module in (book_check, refresh):
        module.register(prices)
    app.add_typer(prices, name="prices")
