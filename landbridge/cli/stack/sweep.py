"""Command `landbridge sweep`: resources of an environment in AWS that are in no stack's state."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, print_findings, print_json, require

if TYPE_CHECKING:
    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_resources.resource_type import ResourceType
    from landbridge.environment import Environment
    from landbridge.live.sweep import Leftover, Leftovers

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Delete = Annotated[
    bool,
    typer.Option("--delete", help="Delete them. A resource that holds data is deleted only if --lose gives its id."),
]
Lose = Annotated[
    list[str] | None, typer.Option("--lose", metavar="ID", help="Id of a resource to delete with the data in it.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)


def sweep(
    stack: Stack = None, file: File = None, delete: Delete = False, lose: Lose = None, form: Form = Format.TEXT
) -> None:
    """List leftover resources in AWS.

    They have the environment's tag, and are neither in Pulumi's state nor a node in use.

    Exit status: 0 no leftovers, 1 leftovers, 2 AWS could not be queried.
    """
    from landbridge.live.sweep import remove
    from landbridge.live.sweep.remove import Removal
    from landbridge.realise import pulumi

    environment = require(stack, file)
    leftovers = search(environment, pulumi.remembered(environment, environment_path(stack, file)))
    removals: list[dict[str, Any]] = []
    remaining = leftovers.items
    if delete and leftovers.items:

        def report(removal: Removal) -> None:
            leftover = removal.leftover
            removals.append({"id": leftover.id, "type": leftover.type.noun, "reason": removal.reason})
            if form is Format.TEXT:
                word = "deleted" if removal.reason is None else "kept"
                typer.echo(f"{word:8} {leftover.type.noun} {leftover.id} {removal.reason or ''}".rstrip(), err=True)

        finished = remove(lambda: connect(environment), leftovers.items, lose or (), report=report)
        remaining = tuple(removal.leftover for removal in finished if removal.reason is not None)
    print_findings(leftovers.unseen)
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                "found": [leftover.to_dict() for leftover in leftovers.items],
                "in_use": [leftover.to_dict() for leftover in leftovers.running_in_use],
                "removals": removals,
                "left": [leftover.id for leftover in remaining],
                "unseen": [finding.to_dict() for finding in leftovers.unseen],
            }
        )
    else:
        if not delete:
            show(remaining)
        _show_in_use(leftovers)
        used = f", {len(leftovers.running_in_use)} in use" if leftovers.running_in_use else ""
        typer.echo(f"{environment.name}: {len(remaining) or 'no'} leftovers{used}")
    raise typer.Exit(2 if not leftovers.answered else 1 if remaining else 0)


def connect(environment: "Environment", region: str | None = None) -> "AwsClient":
    """Return a new client (without cached responses) of the environment's AWS, in its region or another one."""
    from landbridge.aws_api.client import AwsClient
    from landbridge.plan.fips import fips_services

    return AwsClient(
        region or environment.region, environment.aws.endpoints.operator, fips_services=fips_services(environment)
    )


def search(
    environment: "Environment", remembered: frozenset[str], types: "Sequence[ResourceType] | None" = None
) -> "Leftovers":
    """Return the leftovers of an environment in all its regions, of all types or of some.

    `remembered`: ids and names in Pulumi's state.
    """
    from landbridge.aws_resources import SWEPT
    from landbridge.live.sweep import find_leftovers, merge

    regions = (environment.region, *environment.aws.other_regions)
    now, standing = datetime.now(UTC), bool(remembered)
    return merge(
        find_leftovers(
            connect(environment, region), environment.name, remembered, now, standing=standing, types=types or SWEPT
        )
        for region in regions
    )


def show(leftovers: Iterable["Leftover"]) -> None:
    """Print a line for each leftover."""
    for leftover in leftovers:
        notes = [word for word, holds in (("billed", leftover.billed), ("holds data", leftover.holds_data)) if holds]
        line = f"  {leftover.type.noun:34} {leftover.id:26} {leftover.name:30} {', '.join(notes)}"
        typer.echo(line.rstrip())


def _show_in_use(leftovers: "Leftovers") -> None:
    from landbridge.live.sweep import describe

    for leftover in leftovers.running_in_use:
        typer.echo(f"  in use, and billed: {describe(leftover)}")


def after_destroy(environment: "Environment", file: Path) -> bool:
    """Print the resources that remain after a destroy; return true if one of them holds no data."""
    from landbridge.live.sweep import describe
    from landbridge.realise import pulumi

    leftovers = search(environment, pulumi.remembered(environment, file))
    if not leftovers.answered:
        typer.echo(
            "warning: AWS was not searched for remaining resources: run `landbridge sweep` with credentials", err=True
        )
        return False
    for leftover in leftovers.running_in_use:
        typer.echo(f"in use, and billed: {describe(leftover)}", err=True)
    for leftover in leftovers.with_data:
        typer.echo(f"kept, and billed: {leftover.type.noun} {leftover.id} {leftover.name}: it holds data", err=True)
    for leftover in leftovers.without_data:
        state = "still there, and billed" if leftover.billed else "still there"
        typer.echo(f"error: {state}: {leftover.type.noun} {leftover.id} {leftover.name}".rstrip(), err=True)
    if leftovers.without_data:
        typer.echo(f"run: landbridge sweep -s {environment.name} --delete", err=True)
    return bool(leftovers.without_data)
