"""Command `landbridge data gc`: objects that no manifest names, staged copies that no job states, and results at the site."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json
from landbridge.cli.data import common
from landbridge.cli.data.common import ClassOption, Credentials, Form, Outputs, Profile

if TYPE_CHECKING:
    from datetime import timedelta

    from landbridge.aws_api.objects import ObjectBucket
    from landbridge.live.staging.config import MoverConfig

KeepGb = Annotated[
    float | None,
    typer.Option("--keep-gb", metavar="GB", min=0, help="Keep at most this of staged copies in each class and site."),
]
MoverFile = Annotated[
    Path | None,
    typer.Option("--mover", metavar="FILE", help="Settings of the mover; default: those of the storage host."),
]
#: Seconds for which a deletion waits for the mover and the burst controller.
WAIT_SECONDS = 120.0
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
    keep_gb: KeepGb = None,
    delete: Delete = False,
    mover: MoverFile = None,
    outputs: Outputs = None,
    profile: Profile = None,
    credentials: Credentials = None,
    form: Form = Format.TEXT,
) -> None:
    """List or delete objects that no manifest names.

    Uploads that were never finished leave such objects. Nothing is deleted while an upload is running. On the storage host it also deletes staged copies that no pending or
    running job states, and results in buckets that are at the site. The role `mover` may not delete: this command needs an operator's credentials (AWS_PROFILE). Deleted objects can be restored for storage.data_hub.noncurrent_days days.
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
    config = _mover_config(mover)
    grace = timedelta(days=command.facts.grace_days.value if older_than is None else older_than)
    rows, findings = [], list[Finding]()
    copied: list[dict[str, Any]] = []
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
            if config is not None:
                try:
                    copied += _copies(config, bucket, name, grace, keep_gb, delete=delete)
                except FindingsError as error:
                    findings += error.findings
    if form is Format.JSON:
        print_json(
            {
                "deleted": delete,
                "classes": rows,
                "copies": copied,
                "findings": [finding.to_dict() for finding in findings],
            }
        )
    else:
        print_findings(findings)
        for row in rows:
            verb = "deleted" if delete else "to delete (--delete)" if row["objects"] else "to delete"
            typer.echo(f"{row['data_class']}: {row['objects']:,} objects, {row['bytes']:,} bytes {verb}")
        for row in copied:
            verb = "deleted" if delete else "to delete (--delete)"
            typer.echo(f"{row['data_class']}: {row['copy']} {row['where']}, {row['bytes']:,} bytes {verb}")
    raise typer.Exit(1 if findings else 0)


def _mover_config(path: Path | None) -> "MoverConfig | None":
    """Return the settings of this host's mover; None on other hosts. Prints the reason and exits if they cannot be read."""
    from landbridge.live.staging.config import MoverConfigError, load_mover_config
    from landbridge.live.staging.service import CONFIG

    if path is None and not Path(CONFIG).exists():
        return None
    try:
        return load_mover_config(path or Path(CONFIG))
    except MoverConfigError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None


def _copies(
    config: "MoverConfig",
    bucket: "ObjectBucket",
    data_class: str,
    grace: "timedelta",
    keep_gb: float | None,
    *,
    delete: bool,
) -> list[dict[str, Any]]:
    """Return the staged copies and the results of a class that are deleted, or would be. Raises AwsRefusal and FindingsError."""
    from datetime import UTC, datetime

    from landbridge.live.datasets import ContentStore
    from landbridge.live.staging import collect as copies
    from landbridge.staging.exchange import read_in_use

    now, folder = datetime.now(UTC), config.folder / data_class
    rules = copies.CopyRules(grace, None if keep_gb is None else int(keep_gb * 1e9))
    store = ContentStore(folder / ".store")
    if delete:
        store.prepare()
        copies.restore_withdrawn(folder)
    in_use, chosen = read_in_use(config.exchange), []
    for staged in (copies.cloud_copies(bucket), copies.site_copies(folder, bucket)):
        chosen += copies.copies_to_delete(staged, data_class, in_use, rules, now)
    if delete:
        chosen = copies.delete_copies(
            bucket, chosen, data_class, store, lambda: read_in_use(config.exchange), WAIT_SECONDS
        )
    rows = [
        {"copy": copy.dataset, "where": "in AWS" if copy.folder is None else "at the site", "bytes": copy.size}
        for copy in chosen
    ]
    for run, keys, size in copies.results_at_site(bucket, now, grace):
        if delete:
            copies.delete_keys(bucket, keys)
        rows.append({"copy": f"results of {run}", "where": "in AWS", "bytes": size})
    return [{"data_class": data_class, **row} for row in rows]
