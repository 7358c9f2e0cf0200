"""Commands `landbridge model archive` and `restore`: a registry in the bucket of a data class, and from it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from landbridge.cli.common import File, Stack, TimerMetrics, mlflow_password, print_findings
from landbridge.cli.data.common import DataCommand, aws_failures, open_command
from landbridge.cli.model.common import Revoked, Server, Trusted, failures, open_registry, trust_from
from landbridge.findings import Finding

if TYPE_CHECKING:
    from landbridge.aws_api.objects import ObjectBucket
    from landbridge.environment import Environment
    from landbridge.live.models.registry import ModelRegistry
    from landbridge.live.models.transfer import SyncStep

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Models. Default: all.")]
Class = Annotated[str, typer.Option("--class", metavar="CLASS", help="Data class of the models and of the bucket.")]
Region = Annotated[
    str | None, typer.Option("--region", help="Use the replica in the class's replica_region instead of the bucket.")
]
Outputs = Annotated[
    Path | None, typer.Option("--outputs", metavar="FILE", help="Stack outputs; default: those of `landbridge up`.")
]
_WORKERS = 4
_WORKSPACE, _PASSWORD = "MLFLOW_WORKSPACE", "MLFLOW_TRACKING_PASSWORD"


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
    metrics: TimerMetrics = None,
) -> None:
    """Write bundles of signed versions to the class's bucket.

    S3 replicates them to the class's replica_region. No object is replaced; repeating it writes what is missing: a timer
    (observability.timers) runs it. Without MLFLOW_WORKSPACE the models of all teams with the class are archived. Exit status 1:
    something was refused. Example: landbridge model archive --class internal -s acme
    """
    from landbridge.live.models.archive import archive as steps
    from landbridge.live.models.registry import in_workspace
    from landbridge.ops.timer_metrics import write_timer

    command = open_command(stack, file, outputs, profile=None)
    with _first_failure(metrics, command.environment), failures(), aws_failures(data_class):
        signers = [*command.environment.mlops.revoked_signers, *(revoked or ())]
        accepted, registry = trust_from(trust, signers, stack, file), _open(tracking_uri)
        bucket, states = _bucket(command, data_class, None), set[str]()
        for workspace in _workspaces(command.environment, data_class):
            with in_workspace(workspace):
                chosen = names or registry.names()
                states |= _printed(steps(registry, chosen, accepted, data_class, bucket, workspace), workspace)
        write_timer(metrics, command.environment, "archive", time.time(), 0, {})
    raise typer.Exit(1 if "refused" in states else 0)


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
    from landbridge.live.models.registry import in_workspace

    command = open_command(stack, file, outputs, profile=None)
    with failures(), aws_failures(data_class):
        signers = [*command.environment.mlops.revoked_signers, *(revoked or ())]
        accepted, registry = trust_from(trust, signers, stack, file), _open(tracking_uri)
        bucket, states = _bucket(command, data_class, region), set[str]()
        for workspace in _workspaces(command.environment, data_class):
            with in_workspace(workspace):
                states |= _printed(steps(registry, accepted, data_class, bucket, workspace), workspace)
    raise typer.Exit(1 if "refused" in states else 0)


def _open(tracking_uri: str) -> "ModelRegistry":
    """Return the registry of a URI, with the password of a unit."""
    password = mlflow_password()
    if password is not None:
        os.environ[_PASSWORD] = password
    return open_registry(tracking_uri)


def _workspaces(environment: "Environment", data_class: str) -> list[str]:
    """Return the workspaces of the class's server: the one that MLFLOW_WORKSPACE names, or the default one and the
    teams' workspaces.
    """
    from landbridge.plan.site.teams.workspaces import workspaces

    chosen = os.environ.get(_WORKSPACE)
    return [chosen] if chosen else ["", *(each.name for each in workspaces(environment, data_class))]


@contextmanager
def _first_failure(metrics: Path | None, environment: "Environment") -> Iterator[None]:
    """Write metrics of a pass that never ended if the first pass of a timer fails: without a series there is no alert."""
    from landbridge.ops.timer_metrics import write_timer

    try:
        yield
    except typer.Exit as ended:
        if ended.exit_code == 2 and metrics is not None and not metrics.exists():
            write_timer(metrics, environment, "archive", 0.0, 0, {})
        raise


def _refuse(message: str) -> NoReturn:
    print_findings([Finding("model-archive", message)])
    raise typer.Exit(1)


def _printed(steps: "Iterator[SyncStep]", workspace: str) -> set[str]:
    """Print the steps; return their states."""
    states: set[str] = set()
    for step in steps:
        states.add(step.state)
        name = f"{workspace}/{step.name}" if workspace else step.name
        typer.echo(f"{name:<24} {step.item:<10} {step.state:<8} {step.reason}".rstrip())
    return states


def _bucket(command: DataCommand, data_class: str, region: str | None) -> "ObjectBucket":
    """Return the class's bucket, or its replica, with the credentials of the process."""
    from dataclasses import replace

    from landbridge.aws_api.objects import TransferRate
    from landbridge.plan.aws.storage.data_hub import data_hub_args

    # Outputs can be older than the file, whose rule decides.
    command.require_class(data_class)
    access, bucket = command.access, command.outputs.data_hub.buckets.get(data_class)
    if bucket is None:
        _refuse(f"the stack outputs have no bucket of class {data_class}: `landbridge up` is needed")
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
