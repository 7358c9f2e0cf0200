"""Commands `landbridge model export`, `import`, `fetch` and `sync`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack, require
from landbridge.cli.model.common import (
    Revoked,
    Server,
    Trusted,
    Version,
    failures,
    find_version,
    open_registry,
    trust_from,
)

Bundle = Annotated[Path, typer.Argument(metavar="TAR", help="Air-gap bundle.")]
Target = Annotated[str, typer.Option("--to", metavar="URI", help="MLflow server that gets the versions.")]
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Models. Default: all.")]
Place = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder that gets NAME/VERSION.")]


def register(model: typer.Typer) -> None:
    """Add the commands."""
    model.command()(export)
    model.command("import")(take)
    model.command()(fetch)
    model.command()(sync)


def export(
    version: Version,
    bundle: Bundle,
    tracking_uri: Server,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Write a signed version into an air-gap bundle.

    Example: landbridge model export digits@champion digits.tar -s acme
    """
    from landbridge.live.models import transfer

    with failures():
        registry, accepted = open_registry(tracking_uri), trust_from(trust, revoked, stack, file)
        exported = find_version(registry, version)
        temporary = bundle.with_name(f".{bundle.name}.partial")
        transfer.export(registry, exported, accepted, temporary)
        os.replace(temporary, bundle)
    typer.echo(f"{bundle}: {exported.name}/{exported.version}, {bundle.stat().st_size:,} bytes")


def take(
    bundle: Bundle,
    tracking_uri: Server,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Register the version of an air-gap bundle.

    It is verified first, and keeps its number. No alias moves: promote it to candidate.

    Example: landbridge model import digits.tar -s acme --tracking-uri https://mlops01:5000
    """
    from landbridge.live.models import transfer

    with failures():
        accepted = trust_from(trust, revoked, stack, file)
        classes = permitted(tracking_uri, stack, file) if stack is not None or file is not None else None
        version = transfer.take(open_registry(tracking_uri), bundle, accepted, classes)
    typer.echo(f"{version.name}/{version.version} is registered")


def fetch(
    version: Version,
    folder: Place,
    tracking_uri: Server,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Download a verified version into a folder.

    Example: landbridge model fetch digits@champion /srv/models --trust /etc/landbridge/tls/ca.pem
    """
    from landbridge.live.models import transfer

    with failures():
        registry, accepted = open_registry(tracking_uri), trust_from(trust, revoked, stack, file)
        place = transfer.fetch(registry, find_version(registry, version), folder, accepted)
    typer.echo(str(place))


def sync(
    to: Target,
    tracking_uri: Server,
    names: Names = None,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Copy missing versions and aliases to another server.

    A server that is not of the environment's own site is one in AWS: it gets only models whose data class may be in AWS.
    Repeating it changes nothing. Exit status 1: something was refused.

    Example: landbridge model sync digits --to arn:aws:sagemaker:eu-west-1:111122223333:mlflow-tracking-server/acme -s acme
    """
    from landbridge.live.models import transfer

    with failures():
        accepted = trust_from(trust, revoked, stack, file)
        source, target = open_registry(tracking_uri), open_registry(to)
        classes = permitted(to, stack, file)
        states: set[str] = set()
        for step in transfer.sync(source, target, names or source.names(), accepted, classes):
            states.add(step.state)
            typer.echo(f"{step.name:<24} {step.item:<10} {step.state:<8} {step.reason}".rstrip())
    raise typer.Exit(1 if "refused" in states else 0)


def permitted(uri: str, stack: str | None, file: Path | None) -> frozenset[str]:
    """Return the data classes whose models may be in a server."""
    from landbridge.plan.network.services.model_registries import registry_classes

    return registry_classes(require(stack, file), uri)
