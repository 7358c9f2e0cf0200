"""Group `landbridge secrets`: the store of the site's secrets. No command prints a value."""

import typer

from landbridge.cli.secrets import contents, transfer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    secrets = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Create, list, import and export the secrets of the site.",
    )
    secrets.callback()(lambda: None)
    for module in (contents, transfer):
        module.register(secrets)
    app.add_typer(secrets, name="secrets")
