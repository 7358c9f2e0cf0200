"""Command `landbridge data stage`: create a folder with a version of a dataset."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack
from landbridge.cli.data import common
from landbridge.cli.data.common import (
    ClassOption,
    Credentials,
    Form,
    LedgerFile,
    Limit,
    Outputs,
    Profile,
    Reference,
    Workers,
    Yes,
)

Folder = Annotated[Path, typer.Argument(metavar="DEST", help="New folder.")]
Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Content store of the site; default: .datasets beside DEST."),
]
Copied = Annotated[bool, typer.Option("--copy", help="Writable copies instead of links to the store.")]


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command()(stage)


def stage(
    reference: Reference,
    folder: Folder,
    data_class: ClassOption = None,
    stack: Stack = None,
    file: File = None,
    store: Store = None,
    copied: Copied = False,
    limit: Limit = None,
    workers: Workers = None,
    yes: Yes = False,
    outputs: Outputs = None,
    profile: Profile = common.MOVER,
    credentials: Credentials = None,
    ledger_file: LedgerFile = None,
    form: Form = Format.TEXT,
) -> None:
    """Create a folder with a version of a dataset, verified. Its files are read-only.

    Objects are read once into the content store of the site; a second folder links to it and reads nothing. A repeated
    command continues an interrupted one; the folder appears when it is complete.
    Exit status: 0 the folder has the version, 1 findings, 2 AWS did not answer, or a file cannot be written.

    Example: landbridge data stage corpus:2026-11 /scratch/corpus --store /scratch/.datasets -s example
    """
    import time

    from landbridge.cli.data.find import find
    from landbridge.cli.data.progress import progress
    from landbridge.live.datasets import ContentStore, bytes_to_read
    from landbridge.live.datasets import stage as stage_version
    from landbridge.live.datasets.stage import is_staged
    from landbridge.plan.cost.dataset_transfer import TransferAmounts

    command = common.open_command(stack, file, outputs, profile, credentials)
    folder, site = folder.absolute(), common.site_of(command.environment)
    content_store = ContentStore((store or folder.parent / ".datasets").absolute())
    ledger = common.open_ledger(command.environment, ledger_file)
    with common.aws_failures(f"dataset {reference}"):
        command.require_mover()
        meter = _Meter()
        bucket, manifest = find(command, reference, data_class, workers=workers, limit=limit, progress=meter)
        place = manifest.content.data_class
        command.require_class(place, site)
        objects, size = (0, 0) if is_staged(manifest, folder) else bytes_to_read(manifest, content_store)
        estimate = command.cost(TransferAmounts(reads=objects + 1, bytes_out=size), site)
        if size:
            common.confirm(estimate, yes=yes, form=form)
        name = f"{manifest.content.name}:{manifest.version}"
        facts = {"command": "stage", "dataset": name, "data_class": place, "folder": str(folder)}
        transfer = ledger.begin({**facts, **common.caller_facts(), "estimate": estimate.to_dict()})
        began = time.monotonic()
        with progress(size, shown=form is Format.TEXT) as meter.advance:
            staged = stage_version(bucket, manifest, folder, content_store, copied=copied)
        seconds, calls = time.monotonic() - began, bucket.calls
        reads = calls["head_object"] + calls["get_object"]
        amounts = TransferAmounts(writes=calls["list_objects_v2"], reads=reads, bytes_out=staged.read_bytes)
        actual = command.cost(amounts, site)
        result = {
            "dataset": manifest.content.name,
            "version": manifest.version,
            "digest": manifest.content.digest,
            "data_class": place,
            "bucket": bucket.name,
            "folder": str(folder),
            "store": str(content_store.root),
            "present": staged.was_present,
            "files": len(manifest.content.files),
            "bytes": manifest.content.size,
            "read_objects": staged.read_blocks,
            "read_bytes": staged.read_bytes,
            "links": staged.links,
            "copies": staged.copies,
            "seconds": round(seconds, 3),
        }
        ledger.end(transfer, {**result, "cost": actual.to_dict()})
    state = "was there before" if staged.was_present else f"{staged.links:,} links, {staged.copies:,} copies"
    text = (
        f"{folder}: {name}, {len(manifest.content.files):,} files, {manifest.content.size:,} bytes, {state}; "
        f"read {staged.read_bytes:,} bytes in {staged.read_blocks:,} objects in {seconds:.1f} s"
    )
    common.report({"environment": command.environment.name, **result}, actual, text, form)


class _Meter:
    """Progress of a transfer whose number of bytes is known only after its manifest was read."""

    def __init__(self) -> None:
        self.advance: Callable[[int], None] = lambda count: None

    def __call__(self, count: int) -> None:
        self.advance(count)
