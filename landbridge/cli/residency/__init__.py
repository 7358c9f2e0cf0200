"""Group `landbridge residency`: where data of each class may be, and the proof that it reaches no other place."""

import typer

from landbridge.cli.residency import attempts, prove, records, table


def register(app: typer.Typer) -> None:
    """Add the commands."""
    residency = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Data residency: its proof, and the compiled policy."
    )
    residency.callback()(lambda: None)
    for module in (prove, table, attempts, records):
        module.register(residency)
    app.add_typer(residency, name="residency")
