"""Files of a dataset under their own names in the bucket of its class, where jobs in AWS read them.

S3 copies large files from their blocks; small files are read once a block and written. The description is written last:
a version without it is incomplete. A repeated run writes only what is absent.

Other programs and the bucket's lifecycle rules may delete or replace a file later: a version in use is compared with its
manifest once a day, and then its description is written again. Its time is that of the last comparison and the last use.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from landbridge.aws_api.object_files import LEAST_PART, MOST_PARTS
from landbridge.aws_api.objects import ObjectBucket, ObjectFacts
from landbridge.datasets import DATASET_FILE, DatasetFile, DatasetManifest, files_prefix, object_key
from landbridge.findings import Finding, FindingsError
from landbridge.live.datasets.check import block_fault

#: Lock of a content store while the files of a class in AWS are written or deleted.
COPIES = "copies"
_RENEWAL = timedelta(days=1)
#: Metadata of a description whose files were compared, also by SHA-256; earlier releases wrote it again without.
_CHECKED = {"checked": "sha256"}
#: Storage classes whose objects cannot be read before they are restored. Source: S3 User Guide, "Understanding and managing
#: Amazon S3 storage classes".
_ARCHIVES = frozenset({"GLACIER", "DEEP_ARCHIVE"})
_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class CloudFiles:
    """Files that the bucket lacks: those that S3 copies, and those that pass the link, by block."""

    copied: tuple[DatasetFile, ...]
    passed: dict[int, tuple[DatasetFile, ...]]  # by the index of their first block

    @property
    def size(self) -> int:
        """Return the bytes of all these files."""
        return sum(file.size for file in (*self.copied, *self._passed))

    def read_bytes(self, manifest: DatasetManifest) -> int:
        """Return the bytes of the blocks that are read."""
        blocks = {piece.block for file in self._passed for piece in manifest.content.slices(file)}
        return sum(manifest.content.blocks[block].size for block in blocks)

    @property
    def files(self) -> int:
        """Return the number of files."""
        return len(self.copied) + len(self._passed)

    @property
    def _passed(self) -> tuple[DatasetFile, ...]:
        return tuple(file for files in self.passed.values() for file in files)


def description_of(bucket: ObjectBucket, manifest: DatasetManifest) -> ObjectFacts | None:
    """Return the description of the version's files; None while they are incomplete. Raises AwsRefusal."""
    facts = bucket.head(files_prefix(manifest.content.name, manifest.version) + DATASET_FILE)
    return facts if facts is not None and facts.metadata.get("digest") == manifest.content.digest else None


def is_checked(description: ObjectFacts, now: datetime) -> bool:
    """Return true if the files of a description were compared within a day."""
    return _is_marked(description) and now - description.modified <= _RENEWAL


def note_use(bucket: ObjectBucket, manifest: DatasetManifest) -> None:
    """Write the description of files again that were compared: its time is the time of the last use. Raises AwsRefusal."""
    _describe(bucket, manifest)


def absent_files(
    bucket: ObjectBucket, manifest: DatasetManifest, description: ObjectFacts | None, *, is_whole: bool = False
) -> CloudFiles:
    """Return the files that the bucket lacks, has with another size or in an archive, or with other bytes. Raises AwsRefusal.

    The bytes are compared by the SHA-256 of the metadata, with a call for each file that was written since its description
    was. Without a description only `is_whole` compares the bytes: of the files that an interrupted copy has left.
    """
    prefix = files_prefix(manifest.content.name, manifest.version)
    present = {
        facts.key.removeprefix(prefix): facts for facts in bucket.list(prefix) if facts.storage_class not in _ARCHIVES
    }
    same_size = [file for file in manifest.content.files if (has := present.get(file.path)) and has.size == file.size]
    suspects = same_size if description is not None or is_whole else []
    if description is not None and _is_marked(description):
        suspects = [file for file in suspects if present[file.path].modified >= description.modified]
    with ThreadPoolExecutor(bucket.workers, "compare") as pool:
        heads = pool.map(lambda file: bucket.head(_key(manifest, file)), suspects)
        changed = {
            file.path
            for file, head in zip(suspects, heads, strict=True)
            if head is None or head.metadata.get("sha256") != file.sha256
        }
    right = {file.path for file in same_size} - changed
    copied: list[DatasetFile] = []
    passed: dict[int, list[DatasetFile]] = {}
    for file in manifest.content.files:
        if file.path in right:
            continue
        if _is_whole_blocks(manifest, file):
            copied.append(file)
        else:
            passed.setdefault(file.block if file.size else -1, []).append(file)
    return CloudFiles(tuple(copied), {block: tuple(files) for block, files in passed.items()})


def write_cloud_files(
    bucket: ObjectBucket, manifest: DatasetManifest, progress: Callable[[int], None] = lambda count: None
) -> CloudFiles:
    """Write the files that the bucket lacks, then the description; return these files. Raises AwsRefusal and FindingsError."""
    absent = absent_files(bucket, manifest, description_of(bucket, manifest), is_whole=True)
    work: list[Callable[[], Iterable[Finding]]] = [
        *(lambda file=file: _copy(bucket, manifest, file, progress) for file in absent.copied),
        *(lambda files=files: _pass(bucket, manifest, files, progress) for files in absent.passed.values()),
    ]
    with ThreadPoolExecutor(bucket.workers, "place") as pool:
        try:
            faults = [fault for findings in pool.map(lambda part: list(part()), work) for fault in findings]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    if faults:
        unique = {fault.message: fault for fault in faults}
        raise FindingsError(list(unique.values()))
    _describe(bucket, manifest)
    return absent


def _is_whole_blocks(manifest: DatasetManifest, file: DatasetFile) -> bool:
    """Return true if a file is whole blocks, one after another, that S3 accepts as the parts of an object."""
    pieces = list(manifest.content.slices(file))
    sizes = [manifest.content.blocks[piece.block].size for piece in pieces]
    are_whole = all(piece.length == size for piece, size in zip(pieces, sizes, strict=True))
    return bool(pieces) and are_whole and all(size >= LEAST_PART for size in sizes[:-1]) and len(sizes) <= MOST_PARTS


def _copy(
    bucket: ObjectBucket, manifest: DatasetManifest, file: DatasetFile, progress: Callable[[int], None]
) -> Iterable[Finding]:
    blocks = [manifest.content.blocks[piece.block] for piece in manifest.content.slices(file)]
    for block in blocks:
        facts = bucket.head(object_key(block.sha256))
        if facts is None or (facts.size, facts.sha256) != (block.size, block.sha256):
            yield block_fault(bucket.name, manifest, block.sha256, facts is None)
            return
    sources = [object_key(block.sha256) for block in blocks]
    bucket.copy(_key(manifest, file), sources, _metadata(file))
    progress(file.size)


def _pass(
    bucket: ObjectBucket, manifest: DatasetManifest, files: Iterable[DatasetFile], progress: Callable[[int], None]
) -> Iterable[Finding]:
    """Write files that share blocks: each block is read once, and only the present one is kept."""
    known: tuple[int, bytes] = (-1, b"")
    for file in files:
        parts = []
        for piece in manifest.content.slices(file):
            if known[0] != piece.block:
                sha256 = manifest.content.blocks[piece.block].sha256
                body = bucket.get(object_key(sha256))
                if body is None or hashlib.sha256(body).hexdigest() != sha256:
                    yield block_fault(bucket.name, manifest, sha256, body is None)
                    return
                known = (piece.block, body)
            parts.append(known[1][piece.block_offset : piece.block_offset + piece.length])
        bucket.put(
            _key(manifest, file), b"".join(parts), file.sha256 if file.size else _EMPTY, metadata=_metadata(file)
        )
        progress(file.size)


def _describe(bucket: ObjectBucket, manifest: DatasetManifest) -> None:
    content = manifest.content
    described = {"name": content.name, "version": manifest.version, "data_class": content.data_class}
    text = json.dumps({**described, "created": manifest.created, "digest": content.digest}, indent=2).encode() + b"\n"
    key = files_prefix(content.name, manifest.version) + DATASET_FILE
    bucket.put(key, text, hashlib.sha256(text).hexdigest(), metadata={"digest": content.digest, **_CHECKED})


def _is_marked(description: ObjectFacts) -> bool:
    return description.metadata.items() >= _CHECKED.items()


def _key(manifest: DatasetManifest, file: DatasetFile) -> str:
    return files_prefix(manifest.content.name, manifest.version) + file.path


def _metadata(file: DatasetFile) -> dict[str, str]:
    """Return the mode and the owner with which FSx for Lustre shows the file.

    Source: FSx for Lustre User Guide, "POSIX metadata support for data repositories".
    """
    return {
        "file-permissions": "0100555" if file.executable else "0100444",
        "file-owner": "0",
        "file-group": "0",
        "sha256": file.sha256,
    }
