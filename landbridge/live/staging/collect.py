"""Deletion of staged copies that no job states, and of results that are at the site.

A copy is withdrawn first: its description is removed, so that the mover reports it as absent. Its files are deleted when the
controller has released jobs by a later report, and no pending or running job states the dataset; else the description is put
back.
"""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from landbridge.aws_api.objects import ObjectBucket
from landbridge.datasets import DATASET_FILE, FILES, files_prefix, manifest_key, parse_reference
from landbridge.findings import Finding, FindingsError
from landbridge.live.datasets.content_store import ContentStore
from landbridge.live.datasets.stage import TRANSFERS
from landbridge.live.staging.cloud_files import COPIES
from landbridge.staging.places import DataInUse
from landbridge.staging.results import RESULTS, RESULTS_AT_SITE

#: Objects of one DeleteObjects call. Source: Amazon S3 API Reference, DeleteObjects.
_BATCH = 1000
_WITHDRAWN = ".withdrawn-"


@dataclass(frozen=True, slots=True)
class StagedCopy:
    """Copy of a version at a place: bytes, and time of its last use. `folder`: at the site; None: files in the bucket."""

    dataset: str
    size: int
    used: datetime
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class CopyRules:
    """Age from which copies without a job are deleted, and bytes of a class above which the oldest ones are, whatever their age."""

    grace: timedelta
    keep_bytes: int | None = None


def cloud_copies(bucket: ObjectBucket) -> list[StagedCopy]:
    """Return the copies in a bucket whose version has a manifest, so that they can be copied again. Raises AwsRefusal."""
    sizes: dict[str, int] = {}
    used: dict[str, datetime] = {}
    for facts in bucket.list(FILES):
        name, _, rest = facts.key.removeprefix(FILES).partition("/")
        dataset = f"{name}:{rest.partition('/')[0]}"
        sizes[dataset] = sizes.get(dataset, 0) + facts.size
        # The mover writes the description again when a job uses the copy.
        used[dataset] = max(used.get(dataset, facts.modified), facts.modified)
    return [
        StagedCopy(dataset, sizes[dataset], used[dataset])
        for dataset in sorted(sizes)
        if bucket.head(manifest_key(*dataset.split(":", 1))) is not None
    ]


def site_copies(folder: Path, bucket: ObjectBucket) -> list[StagedCopy]:
    """Return the copies in the site's folder of a class whose version has a manifest. Raises AwsRefusal and OSError."""
    copies = []
    for described in sorted(folder.glob(f"*/*/{DATASET_FILE}")):
        name, version = described.parts[-3:-1]
        if name.startswith((".", "_")) or version.startswith("."):
            continue
        if bucket.head(manifest_key(name, version)) is not None:
            files = (path.lstat() for path in described.parent.rglob("*") if path.is_file())
            used = datetime.fromtimestamp(described.parent.stat().st_mtime, UTC)
            copies.append(StagedCopy(f"{name}:{version}", sum(file.st_size for file in files), used, described.parent))
    return copies


def copies_to_delete(
    copies: Iterable[StagedCopy], data_class: str, in_use: DataInUse, rules: CopyRules, now: datetime
) -> list[StagedCopy]:
    """Return the copies that no job states: those that are older than the grace, and the oldest above the limit of bytes."""
    chosen, total = [], 0
    for copy in sorted(copies, key=lambda copy: copy.used, reverse=True):
        total += copy.size
        is_over = rules.keep_bytes is not None and total > rules.keep_bytes
        if (data_class, copy.dataset) not in in_use.datasets and (is_over or now - copy.used >= rules.grace):
            chosen.append(copy)
    return chosen


def delete_copies(
    bucket: ObjectBucket,
    copies: Sequence[StagedCopy],
    data_class: str,
    store: ContentStore,
    read_in_use: Callable[[], DataInUse],
    wait_seconds: float,
) -> list[StagedCopy]:
    """Delete copies and return them, without those that a job states meanwhile. Raises AwsRefusal, FindingsError and OSError.

    Raises FindingsError if controller and mover do not answer in time: the copies are put back.
    """
    withdrawn: list[tuple[StagedCopy, Callable[[], None], Callable[[], bool]]] = []
    try:
        for copy in copies:
            restore, remove = _withdraw(bucket, copy, store)
            withdrawn.append((copy, restore, remove))
        if withdrawn:
            in_use = _in_use_after(time.time(), read_in_use, wait_seconds)
    except BaseException:
        for _, restore, _ in withdrawn:
            restore()
        raise
    deleted = []
    for copy, restore, remove in withdrawn:
        if (data_class, copy.dataset) in in_use.datasets:
            restore()
        elif remove():
            deleted.append(copy)
    if any(copy.folder is not None for copy in deleted):
        with store.lock(TRANSFERS):
            store.remove_unlinked()
    return deleted


def restore_withdrawn(folder: Path) -> None:
    """Put back the site's copies that a killed process had withdrawn. Raises OSError."""
    for hidden in folder.glob(f"*/{_WITHDRAWN}*"):
        _rename_back(hidden, hidden.with_name(hidden.name.removeprefix(_WITHDRAWN)))


def results_at_site(bucket: ObjectBucket, now: datetime, grace: timedelta) -> Iterator[tuple[str, list[str], int]]:
    """Yield each run whose results came to the site more than `grace` ago: its keys, the note last, and bytes. Raises AwsRefusal."""
    for note in list(bucket.list(f"{RESULTS_AT_SITE}/")):
        run = note.key.removeprefix(f"{RESULTS_AT_SITE}/").removesuffix(".json")
        if now - note.modified >= grace:
            objects = [facts for facts in bucket.list(f"{RESULTS}/{run}/") if facts.modified <= note.modified]
            yield run, [*(facts.key for facts in objects), note.key], sum(facts.size for facts in objects)


def delete_keys(bucket: ObjectBucket, keys: Sequence[str]) -> None:
    """Delete objects. Raises AwsRefusal, and FindingsError for those that S3 refuses."""
    for first in range(0, len(keys), _BATCH):
        refused = bucket.delete(keys[first : first + _BATCH])
        if refused:
            faults = [f"s3://{bucket.name}/{key} was not deleted: {reason}" for key, reason in refused.items()]
            raise FindingsError([Finding("dataset-object", fault) for fault in faults])


def _withdraw(
    bucket: ObjectBucket, copy: StagedCopy, store: ContentStore
) -> tuple[Callable[[], None], Callable[[], bool]]:
    """Remove the description of a copy; return how it is put back, and how the files are deleted: false if it is there again."""
    if copy.folder is not None:
        folder = copy.folder
        hidden = folder.with_name(f"{_WITHDRAWN}{folder.name}")
        folder.rename(hidden)
        return lambda: _rename_back(hidden, folder), lambda: _remove_folder(hidden)
    name, version = parse_reference(copy.dataset)
    prefix = files_prefix(name, version or "")
    key = prefix + DATASET_FILE
    facts, text = bucket.head(key), bucket.get(key)
    delete_keys(bucket, [key])

    def restore() -> None:
        if facts is not None and text is not None:
            # Its time is new: without the mark the mover compares all files once.
            metadata = {"digest": facts.metadata.get("digest", "")}
            bucket.put(key, text, hashlib.sha256(text).hexdigest(), metadata=metadata)

    def remove() -> bool:
        # The mover holds the lock while it writes files and description.
        with store.lock(COPIES):
            if bucket.head(key) is not None:
                return False
            delete_keys(bucket, [facts.key for facts in bucket.list(prefix)])
            return True

    return restore, remove


def _remove_folder(folder: Path) -> bool:
    shutil.rmtree(folder)
    return True


def _rename_back(hidden: Path, folder: Path) -> None:
    # The mover may have copied it again.
    if folder.exists():
        shutil.rmtree(hidden)
    else:
        hidden.rename(folder)


def _in_use_after(moment: float, read_in_use: Callable[[], DataInUse], wait_seconds: float) -> DataInUse:
    """Return the datasets in use after the mover has inspected and the controller has released jobs by it. Raises FindingsError."""
    deadline = time.monotonic() + wait_seconds
    while True:
        in_use = read_in_use()
        if in_use.inspected is not None and in_use.inspected > moment:
            return in_use
        if time.monotonic() >= deadline:
            message = f"mover and burst controller have not answered within {wait_seconds:.0f} s: no copy is deleted"
            fix = "check landbridge-mover.service and landbridge-burst.service"
            raise FindingsError([Finding("dataset-gc-no-answer", message, fix=fix)])
        time.sleep(min(1.0, wait_seconds / 10))
