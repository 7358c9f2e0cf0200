"""Command `landbridge data verify`: check the objects of a dataset, or a staged folder."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json
from landbridge.cli.data import common
from landbridge.cli.data.common import ClassOption, Credentials, Form, Limit, Outputs, Profile, Reference, Workers

Folder = Annotated[Path | None, typer.Option("--folder", metavar="DIR", help="Check this staged folder instead.")]
Read = Annotated[bool, typer.Option("--read", help="Read every object, which costs as much as staging it.")]


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command()(verify)


def verify(
    reference: Reference,
    data_class: ClassOption = None,
    stack: Stack = None,
    file: File = None,
    folder: Folder = None,
    read: Read = False,
    limit: Limit = None,
    workers: Workers = None,
    outputs: Outputs = None,
    profile: Profile = common.MOVER,
    credentials: Credentials = None,
    form: Form = Format.TEXT,
) -> None:
    """Check a dataset against its manifest.

    Its objects are compared by S3's checksums, or the files of a staged folder. Exit status: 0 all is as in the manifest, 1 damaged or absent, 2 AWS did not answer.

    Example: landbridge data verify corpus:2026-11 -s example --folder /scratch/corpus
    """
    from landbridge.cli.data.find import find
    from landbridge.live.datasets import check_folder, check_objects

    command = common.open_command(stack, file, outputs, profile, credentials)
    with common.aws_failures(f"dataset {reference}"):
        command.require_mover()
        bucket, manifest = find(command, reference, data_class, workers=workers, limit=limit)
        findings = (
            check_objects(bucket, manifest, read=read)
            if folder is None
            else check_folder(folder, manifest, bucket.workers)
        )
    content, name = manifest.content, f"{manifest.content.name}:{manifest.version}"
    place = f"s3://{bucket.name}" if folder is None else str(folder)
    if form is Format.JSON:
        facts = {"dataset": content.name, "version": manifest.version, "digest": content.digest, "place": place}
        print_json({**facts, "findings": [finding.to_dict() for finding in findings]})
    else:
        print_findings(findings)
        count = f"{len(content.unique_blocks):,} objects" if folder is None else f"{len(content.files):,} files"
        typer.echo(f"{name} in {place}: {count}, {len(findings) or 'no'} finding{'s' * (len(findings) != 1)}")
    raise typer.Exit(1 if findings else 0)
