"""Upload of a dataset: each file is read once, blocks are sent in parallel, and the manifest is written last."""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import BoundedSemaphore

from landbridge.aws_api.objects import ObjectBucket
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.catalog.aws.datasets import DatasetFacts
from landbridge.datasets import (
    DatasetBlock,
    DatasetContent,
    DatasetFile,
    DatasetManifest,
    PlannedBlock,
    manifest_key,
    object_key,
    plan_blocks,
)
from landbridge.findings import Finding, FindingsError
from landbridge.live.datasets.listing import find_manifest
from landbridge.live.datasets.markers import UploadMarker
from landbridge.live.datasets.scan import SourceFile
from landbridge.user_files import open_user_file

_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Result of an upload. `is_new` is false if the same version existed; the blocks that it lacked were sent."""

    manifest: DatasetManifest
    is_new: bool
    sent_blocks: int
    sent_bytes: int


def upload(
    bucket: ObjectBucket,
    folder: Path,
    files: Sequence[SourceFile],
    *,
    name: str,
    version: str | None,
    data_class: str,
    facts: DatasetFacts,
    created: datetime,
) -> Uploaded:
    """Upload the files of a folder as a version of a dataset. Raises AwsRefusal and FindingsError.

    Blocks that the bucket has are not sent again, so that a repeated upload continues an interrupted one.
    """
    source = _Source(folder, files, facts.block_bytes)
    if version is not None and (present := find_manifest(bucket, name, version)) is not None:
        _require_same(present, source.content(name, data_class, [_sha256(body) for body in source.blocks()]))
    marker = UploadMarker(bucket, facts, name)
    try:
        digests, sent = _send_all(bucket, source, marker)
        content = source.content(name, data_class, digests)
        manifest = DatasetManifest.of(content, version, created.strftime("%Y-%m-%dT%H:%M:%SZ"))
        marker.require()
        text = manifest.to_bytes()
        key, facts_of_list = (
            manifest_key(name, manifest.version),
            {"files": str(len(files)), "bytes": str(content.size)},
        )
        is_new = bucket.put(key, text, _sha256(text), if_absent=True, metadata=facts_of_list)
        if not is_new:
            present = find_manifest(bucket, name, manifest.version)
            if present is not None:
                _require_same(present, content)
                manifest = present
    finally:
        # Without an end the marker counts as abandoned later.
        with contextlib.suppress(AwsRefusal):
            marker.end()
    return Uploaded(manifest, is_new, len(sent), sum(sent))


def _send_all(bucket: ObjectBucket, source: "_Source", marker: UploadMarker) -> tuple[list[str], list[int]]:
    """Send the blocks that the bucket lacks; return the digests of all blocks, and the sizes of those that were sent."""
    waiting = BoundedSemaphore(bucket.workers + 2)
    results: list[Future[tuple[str, int]]] = []
    with ThreadPoolExecutor(bucket.workers, "put") as pool:
        try:
            for body in source.blocks():
                waiting.acquire()
                result = pool.submit(_send, bucket, body)
                result.add_done_callback(lambda _: waiting.release())
                results.append(result)
                if failed := next((each for each in results[-2 * bucket.workers :] if _has_failed(each)), None):
                    failed.result()
                marker.renew()
            finished = [result.result() for result in results]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [digest for digest, _ in finished], [size for _, size in finished if size]


def _has_failed(result: "Future[tuple[str, int]]") -> bool:
    return result.done() and not result.cancelled() and result.exception() is not None


def _send(bucket: ObjectBucket, body: bytes) -> tuple[str, int]:
    """Return the digest of a block, and the bytes sent: 0 if the bucket has it."""
    digest = _sha256(body)
    key = object_key(digest)
    for _ in range(2):
        present = bucket.head(key)
        if present is not None and (present.size, present.sha256) == (len(body), digest):
            return digest, 0
        # An object with another checksum is damaged: it is replaced.
        if bucket.put(key, body, digest, if_absent=present is None):
            return digest, len(body)
    bucket.put(key, body, digest)
    return digest, len(body)


def _require_same(present: DatasetManifest, content: DatasetContent) -> None:
    if present.content.digest != content.digest:
        reference = f"{content.name}:{present.version}"
        message = f"{reference} exists with other files (written {present.created}); a version never changes"
        raise FindingsError([Finding("dataset-exists", message, fix="give another version, or none")])


class _Source:
    """Files of a folder, read block by block in their order, with the digest of each file."""

    def __init__(self, folder: Path, files: Sequence[SourceFile], block_bytes: int) -> None:
        self._folder, self._files = folder, files
        self._plans: list[PlannedBlock] = plan_blocks([(file.path, file.size) for file in files], block_bytes)
        self._digests: dict[int, str] = {}

    def blocks(self) -> Iterator[bytes]:
        """Yield the blocks. Raises FindingsError for a file that differs from the scan."""
        stream, digest, opened = -1, hashlib.sha256(), -1
        try:
            for plan in self._plans:
                parts = []
                for piece in plan.pieces:
                    file = self._files[piece.file]
                    if opened != piece.file:
                        stream, digest, opened = self._open(file), hashlib.sha256(), piece.file
                    body = _read(stream, piece.length)
                    digest.update(body)
                    parts.append(body)
                    if piece.offset + piece.length == file.size:
                        self._require_unchanged(file, stream, len(body) == piece.length)
                        self._digests[piece.file] = digest.hexdigest()
                        os.close(stream)
                        stream, opened = -1, -1
                yield parts[0] if len(parts) == 1 else b"".join(parts)
        finally:
            if stream >= 0:
                os.close(stream)

    def content(self, name: str, data_class: str, digests: Sequence[str]) -> DatasetContent:
        """Return the content; `digests`: SHA-256 of each block."""
        places: dict[int, tuple[int, int]] = {}
        for number, plan in enumerate(self._plans):
            offset = 0
            for piece in plan.pieces:
                places.setdefault(piece.file, (number, offset))
                offset += piece.length
        files = tuple(
            DatasetFile(
                file.path, file.size, self._digests.get(index, _EMPTY), *places.get(index, (0, 0)), file.executable
            )
            for index, file in enumerate(self._files)
        )
        blocks = tuple(DatasetBlock(digest, plan.size) for digest, plan in zip(digests, self._plans, strict=True))
        return DatasetContent(name, data_class, files, blocks)

    def _open(self, file: SourceFile) -> int:
        try:
            stream = open_user_file(self._folder / file.path)
        except OSError as error:
            raise self._changed(file, error.strerror or str(error)) from None
        try:
            self._require_unchanged(file, stream, True)
        except FindingsError:
            os.close(stream)
            raise
        return stream

    def _require_unchanged(self, file: SourceFile, stream: int, is_whole: bool) -> None:
        state = os.fstat(stream)
        if not is_whole or (state.st_size, state.st_mtime_ns, state.st_ino) != (
            file.size,
            file.modified_ns,
            file.inode,
        ):
            raise self._changed(file, "it has changed since the beginning")

    def _changed(self, file: SourceFile, why: str) -> FindingsError:
        message = f"{file.path!r} cannot be read as it was: {why}; no version was written"
        fix = "repeat the command when no program writes into the folder"
        return FindingsError([Finding("dataset-changed", message, fix=fix, file=str(self._folder))])


def _read(stream: int, length: int) -> bytes:
    """Return the next `length` bytes, or fewer at the end of the file."""
    parts = []
    while length and (part := os.read(stream, length)):
        parts.append(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
