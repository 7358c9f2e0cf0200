"""Group `landbridge credentials`: certificates with which on-prem hosts get AWS credentials."""

import typer

from landbridge.cli.credentials import authority, hosts


def register(app: typer.Typer) -> None:
    """Add the commands."""
    credentials = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Set up and renew the AWS credentials of on-prem hosts.",
    )
    credentials.callback()(lambda: None)
    for module in (authority, hosts):
        module.register(credentials)
    app.add_typer(credentials, name="credentials")
