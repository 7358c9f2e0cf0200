"""Shared code of the commands: the registry, references of versions, trust, and errors."""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format, print_findings
from landbridge.findings import FindingsError

if TYPE_CHECKING:
    from landbridge.live.models.registry import ModelRegistry, RegisteredVersion
    from landbridge.models.signers import ModelTrust

Server = Annotated[
    str, typer.Option("--tracking-uri", metavar="URI", envvar="MLFLOW_TRACKING_URI", help="MLflow server.")
]
Version = Annotated[str, typer.Argument(metavar="NAME/VERSION", help="Model version, or NAME@ALIAS.")]
ModelName = Annotated[str, typer.Argument(metavar="NAME", help="Model.")]
Trusted = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust",
        metavar="PEM",
        help="File with certificates of CAs or with public keys whose signatures are valid. Default: the site's CA.",
    ),
]
Revoked = Annotated[
    list[str] | None, typer.Option("--revoked", metavar="SERIAL", help="Serial number of a revoked signer.")
]
Reason = Annotated[str, typer.Option("--reason", help="Reason, for the history.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


@contextmanager
def failures() -> Iterator[None]:
    """Print findings and errors of the registry and of the store, and exit: 1 for a refusal, 2 without an answer."""
    from landbridge.live.models.registry import RegistryError
    from landbridge.ops.secrets.cipher import SecretsError

    try:
        yield
    except FindingsError as error:
        print_findings(error.findings)
        raise typer.Exit(1) from None
    except (RegistryError, SecretsError, OSError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None


def open_registry(uri: str) -> "ModelRegistry":
    """Return the registry of a URI."""
    from landbridge.live.models.registry import ModelRegistry

    return ModelRegistry(uri)


def find_version(registry: "ModelRegistry", reference: str) -> "RegisteredVersion":
    """Return the version of a reference. Raises a usage error for a text that is not a reference."""
    from landbridge.models.names import parse_model_reference

    try:
        name, version = parse_model_reference(reference)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME/VERSION") from None
    return registry.version(name, registry.resolve(name, version))


def trust_from(
    trusted: list[Path] | None, revoked: list[str] | None, stack: str | None, file: Path | None
) -> "ModelTrust":
    """Return the trust of files, or that in the CA of an environment's store of secrets."""
    from landbridge.models.signers import trust_of

    if trusted:
        return trust_of((path.read_text() for path in trusted), revoked or ())
    from landbridge.cli.secrets.common import environment_and_store
    from landbridge.ops.model_signer import site_trust

    environment, store = environment_and_store(stack, file)
    return site_trust(store, (*environment.mlops.revoked_signers, *(revoked or ())))


def account() -> str:
    """Return the account of MLflow, or without one the account of the operating system, for the history."""
    return os.environ.get("MLFLOW_TRACKING_USERNAME") or getpass.getuser()
