"""Command `landbridge data put`: upload a folder as a version of a dataset."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_findings
from landbridge.cli.data import common
from landbridge.cli.data.common import Credentials, Form, LedgerFile, Limit, Outputs, Profile, Workers, Yes

Source = Annotated[Path, typer.Argument(metavar="SRC", help="Folder.")]
Target = Annotated[
    str, typer.Argument(metavar="NAME[:VERSION]", help="Dataset; without a version it is named by its digest.")
]
ClassOption = Annotated[str, typer.Option("--class", metavar="CLASS", help="Data class of the dataset.")]


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command()(put)


def put(
    source: Source,
    target: Target,
    data_class: ClassOption,
    stack: Stack = None,
    file: File = None,
    limit: Limit = None,
    workers: Workers = None,
    yes: Yes = False,
    outputs: Outputs = None,
    profile: Profile = common.MOVER,
    credentials: Credentials = None,
    ledger_file: LedgerFile = None,
    form: Form = Format.TEXT,
) -> None:
    """Upload a folder as a version of a dataset. A version never changes.

    Small files are packed. A repeated command continues an interrupted one, and sends only what the bucket lacks; the
    version appears when all of it is there. The price is shown before, and written into the ledger after the transfer.
    Exit status: 0 the version exists, 1 findings, 2 AWS did not answer, or a file cannot be read.

    Example: landbridge data put /data/corpus corpus:2026-11 --class public -s example --limit 400
    """
    import time
    from datetime import UTC, datetime

    from landbridge.cli.data.progress import progress
    from landbridge.datasets import parse_reference, plan_blocks
    from landbridge.findings import Severity, has_errors
    from landbridge.live.datasets import scan, upload
    from landbridge.plan.cost.dataset_transfer import TransferAmounts

    try:
        name, version = parse_reference(target)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME[:VERSION]") from None
    if not source.is_dir():
        raise typer.BadParameter(f"{source} is not a folder", param_hint="SRC")
    command = common.open_command(stack, file, outputs, profile, credentials)
    command.require_class(data_class)
    files, findings = scan(source)
    if has_errors(findings):
        common.refuse(findings)
    print_findings([finding for finding in findings if finding.severity is Severity.WARNING])
    total, site = sum(each.size for each in files), common.site_of(command.environment)
    blocks = len(plan_blocks([(each.path, each.size) for each in files], command.facts.block_bytes))
    most = TransferAmounts(writes=blocks + 3, reads=blocks + 2, bytes_in=total, stored=total)
    ledger = common.open_ledger(command.environment, ledger_file)
    with common.aws_failures(f"{source}, dataset {target}"):
        command.require_mover()
        estimate = command.cost(most, site)
        common.confirm(estimate, yes=yes, form=form)
        facts = {"command": "put", "dataset": target, "data_class": data_class, "source": str(source.absolute())}
        transfer = ledger.begin({**facts, **common.caller_facts(), "estimate": estimate.to_dict()})
        began = time.monotonic()
        with progress(total, shown=form is Format.TEXT) as advance:
            bucket = command.bucket(data_class, workers=workers, limit=limit, progress=advance)
            uploaded = upload(
                bucket,
                source,
                files,
                name=name,
                version=version,
                data_class=data_class,
                facts=command.facts,
                created=datetime.now(UTC),
            )
        seconds = time.monotonic() - began
        calls, sent = bucket.calls, uploaded.sent_bytes
        writes, reads = calls["put_object"] + calls["list_objects_v2"], calls["head_object"] + calls["get_object"]
        actual = command.cost(TransferAmounts(writes=writes, reads=reads, bytes_in=sent, stored=sent), site)
        manifest = uploaded.manifest
        result = {
            "dataset": name,
            "version": manifest.version,
            "digest": manifest.content.digest,
            "data_class": data_class,
            "bucket": bucket.name,
            "new": uploaded.is_new,
            "files": len(files),
            "bytes": total,
            "sent_objects": uploaded.sent_blocks,
            "sent_bytes": sent,
            "seconds": round(seconds, 3),
        }
        ledger.end(transfer, {**result, "cost": actual.to_dict()})
    state = "written" if uploaded.is_new else "exists already"
    text = (
        f"{name}:{manifest.version} {state}: {len(files):,} files, {total:,} bytes; "
        f"sent {sent:,} bytes in {uploaded.sent_blocks:,} objects in {seconds:.1f} s"
    )
    common.report({"environment": command.environment.name, **result}, actual, text, form)
