"""`landbridge burst status`: instances beside Slurm's nodes. Runs where burst.json is: on the controller."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import Format

Config = Annotated[Path | None, typer.Option("--config", help="Instead of /etc/landbridge/burst.json.")]
Form = Annotated[Format, typer.Option("--format", help="How to print: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    burst = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The AWS nodes of a running cluster.")
    burst.callback()(lambda: None)
    burst.command()(status)
    app.add_typer(burst, name="burst")


def status(config: Config = None, form: Form = Format.TEXT) -> None:
    """Show instances in AWS beside what Slurm believes of their nodes; ends with 1 where the two disagree."""
    from landbridge.burst import config as configuration
    from landbridge.burst.errors import AwsError
    from landbridge.burst.slurm import SlurmError
    from landbridge.burst.status import status as ask

    try:
        rows = ask(configuration.load(config))
    except (configuration.ConfigError, AwsError, SlurmError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    if form is Format.JSON:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=1))
    elif not rows:
        typer.echo("no instance runs, and no cloud node is up")
    for row in rows if form is Format.TEXT else ():
        where = f"{row.instance or '-':20} {row.state or '-':9} {row.address or '-':15}"
        typer.echo(f"{row.node or '-':12} {where} job {row.job or '-':6} {row.slurm}  {row.remark}".rstrip())
    raise typer.Exit(1 if any(row.remark for row in rows) else 0)
