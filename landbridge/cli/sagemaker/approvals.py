"""Command `landbridge sagemaker approve`: approvals of model packages that follow the alias `champion`."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Stack, print_findings, require
from landbridge.cli.model.common import Server, failures, open_registry
from landbridge.cli.sagemaker.common import connect, refusals
from landbridge.findings import Finding

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Models. Default: mlops.sagemaker.model_groups.")]  # fmt: skip


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(approve)


def approve(tracking_uri: Server, names: Names = None, stack: Stack = None, file: File = None) -> None:
    """Approve the champion's model packages, and no others.

    A model's packages are in the group of its name (`mlops.sagemaker.model_groups`). Each has the number and the digest of its
    model version in its metadata: landbridge-version, landbridge-digest. Repeating it changes nothing. Exit status 1: a package has
    the champion's number and other files. Example: landbridge sagemaker approve vision -s acme
    """
    from landbridge.live.models.approvals import follow_champion
    from landbridge.plan.aws.sagemaker import group_name, job_classes

    environment = require(stack, file)
    sagemaker = environment.mlops.sagemaker
    groups = sagemaker.model_groups if sagemaker is not None else ()
    unknown = [name for name in names or () if name not in groups]
    if unknown or not groups:
        message = f"no model package group of the environment has the name {', '.join(unknown) or 'of a model'}"
        print_findings([Finding("training-group", message, fix=f"mlops.sagemaker.model_groups: {', '.join(groups) or 'none'}")])  # fmt: skip
        raise typer.Exit(1)
    is_refused = False
    with refusals(), failures():
        registry, aws = open_registry(tracking_uri), connect(environment)
        for name in names or groups:
            if name not in registry.names():
                typer.echo(f"{name}: the registry has no such model")
                continue
            for change in follow_champion(aws, registry, name, group_name(environment, name), job_classes(environment)):
                is_refused = is_refused or change.refused
                typer.echo(f"{change.package.arn}: {change.approval}, {change.reason}")
    raise typer.Exit(1 if is_refused else 0)
