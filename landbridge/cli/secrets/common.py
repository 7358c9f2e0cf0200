"""Shared code of the commands: the store of an environment, and errors."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from landbridge.cli.common import environment_path, exit_code, load, print_findings

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.secrets.store import LocalFolder, SecretStore


def environment_and_store(stack: str | None, file: Path | None) -> "tuple[Environment, SecretStore]":
    """Return the environment and its store. If the file cannot be read, print the errors and exit."""
    from landbridge.ops.secrets.store import open_store
    from landbridge.paths import secrets_dir

    loaded = load(stack, file)
    environment = loaded.environment
    if environment is None:
        print_findings(loaded.findings)
        raise typer.Exit(exit_code(loaded.findings))
    folder = secrets_dir(environment.name)
    return environment, open_store(environment.secrets, environment.name, folder, environment_path(stack, file))


def own_folder(environment: "Environment") -> "LocalFolder":
    """Return this operator's folder of secrets."""
    from landbridge.ops.secrets.store import LocalFolder
    from landbridge.paths import secrets_dir

    return LocalFolder(secrets_dir(environment.name))


def failed(reason: object) -> typer.Exit:
    """Print an error, and return the exit with status 1."""
    typer.echo(f"error: {reason}", err=True)
    return typer.Exit(1)
