"""Commands `landbridge secrets import` and `export`."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack
from landbridge.cli.secrets.common import environment_and_store, failed, own_folder

Source = Annotated[
    Path | None,
    typer.Option("--from", help="Folder with one file for each secret. Default: this machine's secrets folder."),
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace secrets of which the store has another value.")]
Target = Annotated[Path, typer.Argument(help="New or empty folder for one file for each secret.", metavar="FOLDER")]


def register(secrets: typer.Typer) -> None:
    """Add the commands."""
    secrets.command("import")(take)
    secrets.command()(export)


def take(stack: Stack = None, file: File = None, source: Source = None, replace: Replace = False) -> None:
    """Copy secrets from a folder into the environment's store.

    Other files of the folder are not copied. A secret of which the store has another value is an error without --replace, and then nothing is copied.

    Example: landbridge secrets import -s acme
    """
    from landbridge.ops.secrets.cipher import SecretsError
    from landbridge.ops.secrets.status import other_values
    from landbridge.ops.secrets.store import LocalFolder

    environment, store = environment_and_store(stack, file)
    folder = LocalFolder(source) if source is not None else own_folder(environment)
    try:
        if not store.shared and folder == store:
            raise SecretsError("the store is this folder: write secrets.store, or give another folder with --from")
        values, stored = folder.read(), store.read()
        if not values:
            raise SecretsError(f"{folder.place} has no secret")
        changed = other_values(store, folder)
        replaced = [name for name in changed if name in stored]
        if replaced and not replace:
            raise SecretsError(
                f"{store.place} has other values of {', '.join(replaced)}; --replace replaces them, and the cluster gets them"
            )
        if changed:
            store.write({name: values[name] for name in changed})
    except (SecretsError, OSError) as error:
        raise failed(error) from None
    typer.echo(f"{store.place}: {f'{len(changed)} copied: ' + ', '.join(changed) if changed else 'unchanged'}")


def export(folder: Target, stack: Stack = None, file: File = None) -> None:
    """Write the secrets of the store into a folder.

    Each secret has a file, which only you can read. Example: landbridge secrets export ~/acme-secrets -s acme
    """
    from landbridge.ops.secrets.cipher import SecretsError
    from landbridge.ops.secrets.store import LocalFolder

    _, store = environment_and_store(stack, file)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise SecretsError(f"{folder} is not empty")
        values = store.read()
        if not values:
            raise SecretsError(f"{store.place} has no secret")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        LocalFolder(folder).write(values)
    except (SecretsError, OSError) as error:
        raise failed(error) from None
    typer.echo(f"{folder}: {len(values)} secrets; delete the folder when they are in their place")
