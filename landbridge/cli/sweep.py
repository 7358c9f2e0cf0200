"""Command `landbridge sweep`: list resources of an environment in AWS that Pulumi does not manage."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, print_findings, print_json, require

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.live.aws import AwsClient
    from landbridge.live.sweep import Leftover, Swept

Form = Annotated[Format, typer.Option("--format", help="How to print: text, or json for programs.")]
Delete = Annotated[
    bool, typer.Option("--delete", help="Remove it too. What holds data only goes where --lose names it.")
]
Lose = Annotated[list[str] | None, typer.Option("--lose", metavar="ID", help="Remove this, with the data in it.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)


def sweep(
    stack: Stack = None, file: File = None, delete: Delete = False, lose: Lose = None, form: Form = Format.TEXT
) -> None:
    """List resources with the environment's tag that are neither in Pulumi's state nor a node in use.

    Exit status: 0 nothing is left, 1 something is, 2 AWS could not be asked.
    """
    from landbridge.live.sweep import remove
    from landbridge.realise import pulumi

    environment = require(stack, file)
    known = pulumi.remembered(environment, environment_path(stack, file))
    found = look_at(environment, known)
    removed: list[dict[str, Any]] = []
    left = found.left
    if delete and found.left:

        def tell(removal: Any) -> None:
            removed.append({"id": removal.left.id, "kind": removal.left.kind.name, "why": removal.why})
            if form is Format.TEXT:
                word = "removed" if removal.why is None else "stays"
                typer.echo(
                    f"{word:8} {removal.left.kind.name} {removal.left.id} {removal.why or ''}".rstrip(), err=True
                )

        done = remove(lambda: connect(environment), found.left, lose or (), tell=tell)
        left = tuple(one.left for one in done if one.why is not None)
    print_findings(found.unseen)
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                "found": [one.to_dict() for one in found.left],
                "removals": removed,
                "left": [one.id for one in left],
                "unseen": [finding.to_dict() for finding in found.unseen],
            }
        )
    else:
        if not delete:
            show(left)
        typer.echo(f"{environment.name}: {len(left)} left over" if left else f"{environment.name}: nothing left over")
    raise typer.Exit(2 if not found.answered else 1 if left else 0)


def connect(environment: "Environment", region: str | None = None) -> "AwsClient":
    """Return an uncached connection to the environment's AWS, in its own region or another."""
    from landbridge.live.aws import AwsClient

    return AwsClient(region or environment.region, environment.aws.endpoints.operator)


def look_at(environment: "Environment", known: frozenset[str]) -> "Swept":
    """Return the unmanaged resources of an environment; Pulumi's state has `known`."""
    from landbridge.live.sweep import look, together

    regions = (environment.region, *environment.aws.other_regions)
    now, standing = datetime.now(UTC), bool(known)
    return together(look(connect(environment, one), environment.name, known, now, standing=standing) for one in regions)


def show(left: Iterable["Leftover"]) -> None:
    """Print one line for each resource."""
    for one in left:
        notes = [word for word, is_so in (("billed", one.billed), ("holds data", one.data)) if is_so]
        typer.echo(f"  {one.kind.name:18} {one.id:26} {one.name:30} {', '.join(notes)}".rstrip())


def after_destroy(environment: "Environment", file: Path) -> bool:
    """Print the resources that remain after a destroy; return true when one of them is unmanaged."""
    from landbridge.realise import pulumi

    found = look_at(environment, pulumi.remembered(environment, file))
    if not found.answered:
        typer.echo(
            "warning: AWS was not searched for remaining resources: run `landbridge sweep` with credentials", err=True
        )
        return False
    for one in found.kept:
        typer.echo(f"kept, and billed: {one.kind.name} {one.id} {one.name}: it holds data", err=True)
    for one in found.useless:
        word = "still there, and billed" if one.billed else "still there"
        typer.echo(f"error: {word}: {one.kind.name} {one.id} {one.name}".rstrip(), err=True)
    if found.useless:
        typer.echo(f"run: landbridge sweep -s {environment.name} --delete", err=True)
    return bool(found.useless)
