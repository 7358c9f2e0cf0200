"""Commands `landbridge model promote` and `rollback`."""

import time
from enum import StrEnum
from typing import Annotated

import typer

from landbridge.cli.common import File, Stack
from landbridge.cli.model.common import (
    ModelName,
    Reason,
    Revoked,
    Server,
    Trusted,
    Version,
    account,
    failures,
    find_version,
    open_registry,
    trust_from,
)


class AliasName(StrEnum):
    """Alias of a model."""

    CANDIDATE = "candidate"
    STAGING = "staging"
    CHAMPION = "champion"


Alias = Annotated[
    AliasName, typer.Argument(metavar="ALIAS", help="staging or champion; candidate for an imported one.")
]
NewInterface = Annotated[
    bool,
    typer.Option(
        "--new-interface", help="The inputs or outputs may differ from those of champion. It is a tag of the version."
    ),
]
Earlier = Annotated[
    str | None,
    typer.Option("--to", metavar="VERSION", help="Former champion. Default: the last one before the present."),
]


def register(model: typer.Typer) -> None:
    """Add the commands."""
    model.command()(promote)
    model.command()(rollback)


def promote(
    version: Version,
    alias: Alias,
    tracking_uri: Server,
    reason: Reason,
    new_interface: NewInterface = False,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Move staging or champion to a version.

    A candidate becomes staging, and the version of staging becomes champion, each after its signature was verified. A version
    whose inputs or outputs differ from those of champion is refused without --new-interface. The history has account, time and reason.

    Example: landbridge model promote digits/3 staging --reason "accuracy 0.97" -s acme
    """
    from landbridge.live.models import moves

    with failures():
        registry, accepted = open_registry(tracking_uri), trust_from(trust, revoked, stack, file)
        wanted = find_version(registry, version)
        order = moves.MoveOrder(account(), reason, time.time(), new_interface)
        move = moves.promote(registry, wanted.name, wanted.version, alias.value, accepted, order)
    typer.echo(f"{wanted.name}: {move.alias} {move.before or 'none'} → {move.after}")


def rollback(
    name: ModelName,
    tracking_uri: Server,
    reason: Reason,
    to: Earlier = None,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Move champion back to a former champion.

    Example: landbridge model rollback digits --reason "errors since 14:00" -s acme
    """
    from landbridge.live.models import moves

    with failures():
        registry, accepted = open_registry(tracking_uri), trust_from(trust, revoked, stack, file)
        order = moves.MoveOrder(account(), reason, time.time())
        move = moves.roll_back(registry, name, to, accepted, order)
    typer.echo(f"{name}: {move.alias} {move.before} → {move.after}")
