"""Command `landbridge data list`: the datasets and their versions."""

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.data import common
from landbridge.cli.data.common import ClassOption, Credentials, Form, Outputs, Profile


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command("list")(show)


def show(
    data_class: ClassOption = None,
    stack: Stack = None,
    file: File = None,
    outputs: Outputs = None,
    profile: Profile = common.MOVER,
    credentials: Credentials = None,
    form: Form = Format.TEXT,
) -> None:
    """List datasets with their versions.

    It shows those of all data classes or of one, with files and bytes. Exit status: 0, or 2 if AWS did not answer. Example: landbridge data list -s example --class public
    """
    from landbridge.live.datasets import size_of, versions
    from landbridge.plan.aws.storage.dataset_place import hub_buckets

    command = common.open_command(stack, file, outputs, profile, credentials)
    if data_class is not None:
        command.require_class(data_class)
    rows = []
    with common.aws_failures("the list of datasets"):
        command.require_mover()
        for name in (
            [data_class] if data_class is not None else sorted(hub_buckets(command.environment, command.outputs))
        ):
            bucket = command.bucket(name)
            for version in versions(bucket):
                files, size = size_of(bucket, version) or (None, None)
                facts = {"dataset": version.name, "version": version.version, "data_class": name}
                rows.append({**facts, "files": files, "bytes": size, "written": version.written.isoformat()})
    if form is Format.JSON:
        print_json(rows)
        return
    for row in rows:
        amount = "" if row["bytes"] is None else f"{row['files']:>10,} files {row['bytes']:>18,} bytes"
        dataset = f"{row['dataset']}:{row['version']}"
        typer.echo(f"{dataset:40} {row['data_class']:14} {amount:>40}  {str(row['written'])[:16]}")
    typer.echo(f"{len(rows) or 'no'} dataset version{'s' * (len(rows) != 1)}")
