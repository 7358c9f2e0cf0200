"""Shared code of the commands on the controller: settings, journal and error messages."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format

if TYPE_CHECKING:
    from landbridge.burst.config.config import BurstConfig
    from landbridge.burst.journal.store import Store

ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default: /etc/landbridge/burst.json.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
PoolName = Annotated[str, typer.Argument(metavar="POOL", help="Name of a pool.")]


@contextmanager
def controller(file: Path | None) -> Iterator[tuple["BurstConfig", "Store"]]:
    """Yield the controller's settings and journal; exit with status 2 if they cannot be read."""
    from landbridge.burst.config.config import ConfigError, load
    from landbridge.burst.journal.store import Store
    from landbridge.burst.model.errors import AwsError
    from landbridge.burst.operator.edits import EditError
    from landbridge.burst.slurm.slurm import SlurmError

    try:
        config = load(file)
        if not config.database.exists():
            raise EditError(
                f"{config.database}: the journal does not exist; does landbridge-burst.service run on this host?"
            )
        store = Store(config.database)
        try:
            yield config, store
        finally:
            store.close()
    except (ConfigError, EditError, AwsError, SlurmError, sqlite3.Error, OSError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
