"""Commands `landbridge model register`, `sign` and `verify`."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack, print_findings
from landbridge.cli.model.common import (
    Revoked,
    Server,
    Trusted,
    account,
    failures,
    find_version,
    open_registry,
    trust_from,
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Model folder: weights and model.json.")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", metavar="PEM", help="File with an EC key (and certificates). Default: the store of secrets."),
]


def register(model: typer.Typer) -> None:
    """Add the commands."""
    model.command("register")(add)
    model.command()(sign)
    model.command()(verify)


def add(folder: Folder, tracking_uri: Server) -> None:
    """Register a model folder as the next version.

    Only ONNX and safetensors are accepted, by their content: a pickle is refused. The version becomes candidate. Repeating it
    changes nothing. In a step of a pipeline, the version gets the name of the run as a tag.

    Example: landbridge model register digits-model --tracking-uri https://mlops01:5000
    """
    from landbridge.live.models import publish

    with failures():
        run = os.environ.get("LANDBRIDGE_PIPELINE_RUN", "")
        version = publish.register(open_registry(tracking_uri), folder, account(), time.time(), run)
    typer.echo(f"{version.name}/{version.version} is candidate; not signed yet")


def sign(
    version: Annotated[str, typer.Argument(metavar="NAME/VERSION", help="Version, NAME@ALIAS, or a folder.")],
    tracking_uri: Server = "",
    stack: Stack = None,
    file: File = None,
    key: KeyFile = None,
) -> None:
    """Sign a version with the signer of the site.

    Its key is in the store of secrets, and its certificate is of the site's CA; both are made for the first signature,
    and again when the signer is in mlops.revoked_signers. A folder without model.json, for Triton or vLLM, is signed with all of its
    files, of any format.

    Example: landbridge model sign digits/3 -s acme
    """
    from datetime import UTC, datetime

    from landbridge.certificates import certificates_in, keys_in
    from landbridge.cli.secrets.common import environment_and_store
    from landbridge.live.models import publish
    from landbridge.ops.model_signer import signer_of
    from landbridge.ops.secrets.cipher import SecretsError

    folder = Path(version)
    if not folder.is_dir() and not tracking_uri:
        raise typer.BadParameter(
            f"{version} is not a folder, and a version needs the MLflow server", param_hint="--tracking-uri"
        )
    with failures():
        if key is not None:
            text = key.read_text()
            keys, certificates = keys_in(text), tuple(certificates_in(text))
            if len(keys) != 1:
                raise SecretsError(f"{key} has {len(keys)} private keys in PEM, and one is required")
            private = keys[0]
        else:
            environment, store = environment_and_store(stack, file)
            private, certificates = signer_of(
                store, environment.name, datetime.now(UTC), environment.mlops.revoked_signers
            )
        if folder.is_dir():
            _sign_folder(folder, private, certificates)
            return
        registry = open_registry(tracking_uri)
        registered = find_version(registry, version)
        publish.sign(registry, registered, private, certificates)
    typer.echo(f"{registered.name}/{registered.version} is signed")


def _sign_folder(folder: Path, key: str, certificates: tuple[str, ...]) -> None:
    from landbridge.models.files.sign import sign_folder, sign_program_folder
    from landbridge.models.names import MANIFEST_FILE

    sign = sign_folder if (folder / MANIFEST_FILE).exists() else sign_program_folder
    if findings := sign(folder, key, certificates):
        print_findings(findings)
        raise typer.Exit(1)
    typer.echo(f"folder {folder} is signed")


def verify(
    reference: Annotated[str, typer.Argument(metavar="NAME/VERSION", help="Version, NAME@ALIAS, or a model folder.")],
    tracking_uri: Server = "",
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Verify the signature and the format of a version.

    A folder is verified without a server; of one without model.json, only the signature of its files. Exit status: 0 valid, 1 refused, 2 no answer.

    Example: landbridge model verify digits@champion -s acme
    """
    from landbridge.live.models import publish
    from landbridge.models.files import ModelRefusal, VerifiedModel, verify_folder
    from landbridge.models.files.program_folder import verify_program_folder
    from landbridge.models.names import MANIFEST_FILE

    with failures():
        accepted = trust_from(trust, revoked, stack, file)
        result: str | VerifiedModel | ModelRefusal
        if (folder := Path(reference)).is_dir() and not (folder / MANIFEST_FILE).exists():
            result = verify_program_folder(folder, accepted)
        elif folder.is_dir():
            result = verify_folder(folder, accepted)
        else:
            registry = open_registry(tracking_uri)
            with publish.verified(registry, find_version(registry, reference), accepted) as checked:
                result = checked
    if isinstance(result, ModelRefusal):
        print_findings(result.findings)
        raise typer.Exit(1)
    if isinstance(result, str):
        typer.echo(f"folder {folder} is valid, signed by {result}")
        return
    manifest = result.manifest
    typer.echo(f"{manifest.name}/{manifest.version} is valid, signed by {result.signer}")
