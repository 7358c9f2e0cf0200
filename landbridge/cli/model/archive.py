"""Commands `landbridge model archive` and `restore`: a registry in the bucket of a data class, and from it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from landbridge.cli.common import File, Stack, print_findings
from landbridge.cli.data.common import aws_failures
from landbridge.cli.model.common import Revoked, Server, Trusted, failures, open_registry, trust_from
from landbridge.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from landbridge.aws_api.objects import ObjectBucket
    from landbridge.live.models.transfer import SyncStep

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Models. Default: all.")]
Class = Annotated[str, typer.Option("--class", metavar="CLASS", help="Data class of the models and of the bucket.")]
Region = Annotated[
    str | None, typer.Option("--region", help="The replica in the class's replica_region instead of the bucket.")
]
Outputs = Annotated[
    Path | None, typer.Option("--outputs", metavar="FILE", help="Stack outputs; default: those of `landbridge up`.")
]
_WORKERS = 4


def register(model: typer.Typer) -> None:
    """Add the commands."""
    model.command()(archive)
    model.command()(restore)


def archive(
    data_class: Class,
    tracking_uri: Server,
    names: Names = None,
    stack: Stack = None,
    file: File = None,
    outputs: Outputs = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Write bundles of signed versions to the class's bucket.

    S3 replicates them to the class's replica_region. No object is replaced; repeating it writes what is missing, so that a timer may run it.
    Exit status 1: something was refused. Example: landbridge model archive --class internal -s acme
    """
    from landbridge.live.models.archive import archive as steps

    with failures(), aws_failures(data_class):
        accepted, registry = trust_from(trust, revoked, stack, file), open_registry(tracking_uri)
        bucket = _bucket(data_class, stack, file, outputs, None)
        _print(steps(registry, names or registry.names(), accepted, data_class, bucket))


def restore(
    data_class: Class,
    tracking_uri: Server,
    stack: Stack = None,
    file: File = None,
    region: Region = None,
    outputs: Outputs = None,
    trust: Trusted = None,
    revoked: Revoked = None,
) -> None:
    """Register archived versions that a server lacks.

    Each bundle is verified. With --region they are read from the replica. Repeating it changes nothing. Exit status 1: something was
    refused. Example: landbridge model restore --class internal -s acme --tracking-uri https://mlops01:5000
    """
    from landbridge.live.models.archive import restore as steps

    with failures(), aws_failures(data_class):
        accepted, registry = trust_from(trust, revoked, stack, file), open_registry(tracking_uri)
        _print(steps(registry, accepted, data_class, _bucket(data_class, stack, file, outputs, region)))


def _refuse(message: str) -> NoReturn:
    print_findings([Finding("model-archive", message)])
    raise typer.Exit(1)


def _print(steps: "Iterator[SyncStep]") -> None:
    states: set[str] = set()
    for step in steps:
        states.add(step.state)
        typer.echo(f"{step.name:<24} {step.item:<10} {step.state:<8} {step.reason}".rstrip())
    raise typer.Exit(1 if "refused" in states else 0)


def _bucket(
    data_class: str, stack: str | None, file: Path | None, outputs: Path | None, region: str | None
) -> "ObjectBucket":
    """Return the class's bucket, or its replica, with the credentials of the process."""
    from dataclasses import replace

    from landbridge.aws_api.objects import TransferRate
    from landbridge.cli.data.common import open_command
    from landbridge.plan.aws.storage.data_hub import data_hub_args

    command = open_command(stack, file, outputs, profile=None)
    access, bucket = command.access, command.outputs.data_hub.buckets.get(data_class)
    if bucket is None:
        _refuse(
            f"the stack outputs have no bucket of class {data_class}: its data may not be in AWS, or `landbridge up` is needed"
        )
    name = bucket.name
    if region is not None:
        plan = next(each for each in data_hub_args(command.environment).buckets if each.data_class == data_class)
        if plan.replica_region != region:
            _refuse(
                f"class {data_class} has no replica in {region} (storage.data_hub.classes.{data_class}.replica_region)"
            )
        # A bucket's name ends in the account's id.
        name, access = plan.bucket_name(name.rpartition("-")[2], plan.replica_prefix), replace(access, region=region)
    return access.bucket(name, _WORKERS, TransferRate(None), None)
