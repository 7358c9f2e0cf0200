"""Command `landbridge data gc`: objects that no manifest names."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json
from landbridge.cli.data import common
from landbridge.cli.data.common import ClassOption, Credentials, Form, Outputs, Profile

Days = Annotated[
    float | None, typer.Option("--older-than", metavar="DAYS", min=0, help="Age of the objects; default: 7.")
]
Delete = Annotated[bool, typer.Option("--delete", help="Delete them; without it they are only listed.")]


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command()(gc)


def gc(
    data_class: ClassOption = None,
    stack: Stack = None,
    file: File = None,
    older_than: Days = None,
    delete: Delete = False,
    outputs: Outputs = None,
    profile: Profile = None,
    credentials: Credentials = None,
    form: Form = Format.TEXT,
) -> None:
    """List or delete objects that no manifest names.

    Uploads that were never finished leave such objects. Nothing is deleted while an upload is running. The role `mover` may not delete: this command needs an operator's
    credentials (AWS_PROFILE). Deleted objects can be restored for storage.data_hub.noncurrent_days days.
    Exit status: 0 done, 1 findings, 2 AWS did not answer.

    Example: landbridge data gc -s example --older-than 30
    """
    from datetime import UTC, datetime, timedelta

    from landbridge.findings import Finding, FindingsError
    from landbridge.live.datasets import collect, unreferenced
    from landbridge.plan.aws.storage.dataset_place import hub_buckets

    command = common.open_command(stack, file, outputs, profile, credentials)
    if data_class is not None:
        command.require_class(data_class)
    grace = timedelta(days=command.facts.grace_days.value if older_than is None else older_than)
    rows, findings = [], list[Finding]()
    with common.aws_failures("objects of datasets"):
        for name in (
            [data_class] if data_class is not None else sorted(hub_buckets(command.environment, command.outputs))
        ):
            bucket = command.bucket(name)
            try:
                if delete:
                    collection = collect(bucket, command.facts, grace)
                    garbage = list(collection.deleted)
                    findings += [
                        Finding("dataset-object", f"s3://{bucket.name}/{key} was not deleted: {reason}")
                        for key, reason in collection.refused.items()
                    ]
                else:
                    garbage = unreferenced(bucket, datetime.now(UTC), grace)
            except FindingsError as error:
                findings += error.findings
                continue
            size = sum(each.size for each in garbage)
            rows.append({"data_class": name, "bucket": bucket.name, "objects": len(garbage), "bytes": size})
    if form is Format.JSON:
        print_json({"deleted": delete, "classes": rows, "findings": [finding.to_dict() for finding in findings]})
    else:
        print_findings(findings)
        for row in rows:
            verb = "deleted" if delete else "to delete (--delete)" if row["objects"] else "to delete"
            typer.echo(f"{row['data_class']}: {row['objects']:,} objects, {row['bytes']:,} bytes {verb}")
    raise typer.Exit(1 if findings else 0)
