"""Staging of a dataset: blocks are read once a site into its content store, and a folder appears when it is complete."""

import errno
import hashlib
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from landbridge.aws_api.objects import ObjectBucket
from landbridge.datasets import DATASET_FILE, MANIFEST_FILE, BlockSlice, DatasetFile, DatasetManifest, object_key
from landbridge.findings import Finding, FindingsError
from landbridge.live.datasets.check import block_fault
from landbridge.live.datasets.content_store import ContentStore, write_at

#: Lock of the transfers into a content store.
TRANSFERS = "transfers"


@dataclass(frozen=True, slots=True)
class Staged:
    """Result of staging: objects and bytes that were read, and files that are links and copies.

    `was_present` is true if the folder had this version before.
    """

    was_present: bool
    read_blocks: int = 0
    read_bytes: int = 0
    links: int = 0
    copies: int = 0


def bytes_to_read(manifest: DatasetManifest, store: ContentStore) -> tuple[int, int]:
    """Return number and bytes of the objects that staging would read."""
    if not store.root.is_dir():
        return len(manifest.content.unique_blocks), sum(manifest.content.unique_blocks.values())
    store.prepare()
    blocks = _needed_blocks(manifest, store.missing(manifest.content.files))
    sizes = {manifest.content.blocks[block].sha256: manifest.content.blocks[block].size for block in blocks}
    return len(sizes), sum(sizes.values())


def stage(
    bucket: ObjectBucket, manifest: DatasetManifest, folder: Path, store: ContentStore, *, copied: bool = False
) -> Staged:
    """Stage a version into a new folder. Raises AwsRefusal, FindingsError and OSError.

    Files that the store has are not read again, nor blocks of a large file that an interrupted run has written.
    """
    if is_staged(manifest, folder):
        return Staged(was_present=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    store.prepare()
    sizes: list[int] = []
    if store.missing(manifest.content.files):
        # One transfer of the site at a time: a second one may need the same files.
        with store.lock(TRANSFERS):
            store.remove_abandoned()
            sizes = _Fetch(bucket, manifest, store).run()
    with store.lock(str(folder)):
        if is_staged(manifest, folder):
            return Staged(True, len(sizes), sum(sizes))
        links, copies = _build(manifest, folder, store, copied)
    return Staged(False, len(sizes), sum(sizes), links, copies)


def is_staged(manifest: DatasetManifest, folder: Path) -> bool:
    """Return true if a folder has this version; false if nothing is there. Raises FindingsError for any other content."""
    try:
        if not any(folder.iterdir()):
            return False
        described = json.loads((folder / DATASET_FILE).read_text())["digest"]
    except FileNotFoundError:
        if not os.path.lexists(folder):
            return False
        described = None
    except (OSError, ValueError, KeyError, TypeError):
        described = None
    if described == manifest.content.digest:
        return True
    message = f"{folder} exists already, and is not {manifest.content.name}:{manifest.version}"
    raise FindingsError([Finding("dataset-folder", message, fix="give a new folder, or remove this one")])


class _Fetch:
    """Transfer of the blocks of missing files into the store."""

    def __init__(self, bucket: ObjectBucket, manifest: DatasetManifest, store: ContentStore) -> None:
        self._bucket, self._manifest, self._store = bucket, manifest, store
        self._missing = store.missing(manifest.content.files)
        self._blocks = _needed_blocks(manifest, self._missing)
        #: Number of slices of each large file that are not written.
        self._open = {
            store.path(file): sum(1 for _ in manifest.content.slices(file))
            for file in self._missing
            if _is_large(manifest, file)
        }
        self._lock = Lock()

    def run(self) -> list[int]:
        """Read the blocks; return the sizes of those that were read. Raises FindingsError with each damaged object."""
        self._require_room()
        self._store.add((file, memoryview(b"")) for file in self._missing if file.size == 0)
        for file in self._missing:
            if self._store.path(file) in self._open:
                with self._store.partial(file).open("ab") as partial:
                    partial.truncate(file.size)
        with ThreadPoolExecutor(self._bucket.workers, "stage") as pool:
            try:
                results = list(pool.map(self._fetch, self._blocks))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        faults = [result for result in results if isinstance(result, Finding)]
        if faults:
            raise FindingsError(faults)
        return [result for result in results if isinstance(result, int) and result]

    def _fetch(self, block: int) -> int | Finding:
        """Return the bytes read of a block: 0 if an interrupted run has written it."""
        wanted = self._manifest.content.blocks[block]
        pieces = self._blocks[block]
        large = [(file, piece) for file, piece in pieces if self._store.path(file) in self._open]
        if len(large) == len(pieces) and all(self._is_written(file, piece, wanted.sha256) for file, piece in large):
            self._close(large)
            return 0
        body = self._bucket.get(object_key(wanted.sha256))
        if body is None or hashlib.sha256(body).hexdigest() != wanted.sha256:
            return block_fault(self._bucket.name, self._manifest, wanted.sha256, body is None)
        view = memoryview(body)
        self._store.add(
            (file, view[piece.block_offset : piece.block_offset + piece.length])
            for file, piece in pieces
            if self._store.path(file) not in self._open
        )
        for file, piece in large:
            descriptor = os.open(self._store.partial(file), os.O_WRONLY)
            try:
                write_at(descriptor, view[piece.block_offset : piece.block_offset + piece.length], piece.file_offset)
            finally:
                os.close(descriptor)
        self._close(large)
        return len(body)

    def _is_written(self, file: DatasetFile, piece: BlockSlice, sha256: str) -> bool:
        with self._store.partial(file).open("rb") as partial:
            # The digest of a hole, which no run has written, would take as long as that of data.
            try:
                data = os.lseek(partial.fileno(), piece.file_offset, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                return False
            if data >= piece.file_offset + piece.length:
                return False
            partial.seek(piece.file_offset)
            return hashlib.sha256(partial.read(piece.length)).hexdigest() == sha256

    def _close(self, pieces: Sequence[tuple[DatasetFile, BlockSlice]]) -> None:
        """Finish each large file whose last slice was written."""
        for file, _ in pieces:
            with self._lock:
                self._open[self._store.path(file)] -= 1
                is_complete = self._open[self._store.path(file)] == 0
            if is_complete:
                self._store.finish(file)

    def _require_room(self) -> None:
        needed = sum(file.size for file in self._missing)
        free = shutil.disk_usage(self._store.root).free
        if needed > free:
            message = f"{self._store.root} has {free:,} bytes free, and the dataset needs {needed:,}"
            raise FindingsError([Finding("dataset-room", message, fix="give another store with --store")])


def _needed_blocks(
    manifest: DatasetManifest, missing: Sequence[DatasetFile]
) -> Mapping[int, list[tuple[DatasetFile, BlockSlice]]]:
    """Return the slices of the missing files by block."""
    needed: dict[int, list[tuple[DatasetFile, BlockSlice]]] = defaultdict(list)
    for file in missing:
        for piece in manifest.content.slices(file):
            needed[piece.block].append((file, piece))
    return dict(sorted(needed.items()))


def _is_large(manifest: DatasetManifest, file: DatasetFile) -> bool:
    return bool(file.size) and file.offset + file.size > manifest.content.blocks[file.block].size


def _build(manifest: DatasetManifest, folder: Path, store: ContentStore, copied: bool) -> tuple[int, int]:
    """Create the folder beside its place, and move it there; return the numbers of links and copies."""
    content = manifest.content
    building = folder.parent / f".{folder.name}.{content.digest[:16]}"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    links = 0
    try:
        for part in sorted({file.path.rpartition("/")[0] for file in content.files} - {""}):
            (building / part).mkdir(parents=True, exist_ok=True)
        for file in content.files:
            links += store.place(file, building / file.path, copied=copied)
        described: dict[str, Any] = {"name": content.name, "version": manifest.version, "created": manifest.created}
        described |= {"data_class": content.data_class, "digest": content.digest}
        (building / MANIFEST_FILE).write_bytes(manifest.to_bytes())
        (building / DATASET_FILE).write_text(json.dumps(described, indent=2) + "\n")
        building.rename(folder)
    except FileExistsError as error:
        message = (
            f"{folder.parent} does not distinguish names that differ only in case: {error.filename2 or error.filename}"
        )
        raise FindingsError([Finding("dataset-case", message, fix="stage it on another file system")]) from None
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return links, len(content.files) - links
