"""Objects of S3 from files and into files, in parts: a few parts are in memory at the same time, whatever the size of the file."""

import base64
import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from landbridge.aws_api.objects import ObjectBucket
from landbridge.aws_api.refusal import AwsRefusal

#: Smallest part of a multipart upload, but the last one, and the largest number of parts. A part has at most 5 GiB, as the body of one
#: PutObject. Source (2026-11-27): Amazon S3 User Guide, "Amazon S3 multipart upload limits".
LEAST_PART, MOST_PARTS = 5 * 2**20, 10_000
#: Landbridge's choice: the memory of a transfer is this size for each worker, and 10,000 parts of it are 312 GiB. Larger files have larger parts.
PART_BYTES = 32 * 2**20
T = TypeVar("T")
_Range = tuple[int, int]


class _Replaced(Exception):
    """Object that another one replaced, or that was deleted, while it was read."""


def part_bytes(size: int, wanted: int = PART_BYTES) -> int:
    """Return the size of the parts of a file: the wanted one, or a larger one if there would be too many parts."""
    least = -(-size // MOST_PARTS)
    return max(wanted, -(-least // 2**20) * 2**20)


def put_file(bucket: ObjectBucket, key: str, file: Path, *, part: int = PART_BYTES) -> bool:
    """Write a new object from a file, in parts if it has more bytes than one; return false if the key is in use. Raises AwsRefusal.

    S3 compares the SHA-256 of each part. The object appears when it is complete, and replaces none. A file that is transferred may not change.
    """
    size = file.stat().st_size
    part = part_bytes(size, part)
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if size <= part:
            content = _read(descriptor, (0, size))
            return bucket.put(key, content, hashlib.sha256(content).hexdigest(), if_absent=True)
        return _put_parts(bucket, key, descriptor, _ranges(size, part))
    finally:
        os.close(descriptor)


def get_file(bucket: ObjectBucket, key: str, file: Path, *, part: int = PART_BYTES) -> bool:
    """Write an object into a new file; return false without one, and for one that is deleted or replaced meanwhile. Raises AwsRefusal."""
    facts = bucket.head(key)
    if facts is None:
        return False
    with file.open("xb") as target:
        descriptor = target.fileno()

        def fetch(piece: _Range) -> None:
            start, length = piece
            content = bucket.get_range(key, facts.etag, start, length)
            if content is None or len(content) != length:
                raise _Replaced
            view, at = memoryview(content), start
            while view:
                count = os.pwrite(descriptor, view, at)
                view, at = view[count:], at + count

        try:
            _at_once(bucket.workers, fetch, _ranges(facts.size, part))
        except _Replaced:
            return False
    return True


def _put_parts(bucket: ObjectBucket, key: str, descriptor: int, ranges: list[_Range]) -> bool:
    upload = bucket.call("create_multipart_upload", Key=key, ChecksumAlgorithm="SHA256")["UploadId"]

    def send(numbered: tuple[int, _Range]) -> dict[str, str | int]:
        number, piece = numbered
        content = _read(descriptor, piece)
        checksum = base64.b64encode(hashlib.sha256(content).digest()).decode()
        words = {"Key": key, "UploadId": upload, "PartNumber": number, "ChecksumSHA256": checksum}
        etag = bucket.call("upload_part", Body=content, **words)["ETag"]
        bucket.progress(len(content))
        return {"PartNumber": number, "ETag": etag, "ChecksumSHA256": checksum}

    try:
        parts = {"Parts": _at_once(bucket.workers, send, enumerate(ranges, 1))}
        bucket.call("complete_multipart_upload", Key=key, UploadId=upload, MultipartUpload=parts, IfNoneMatch="*")
    except BaseException as error:
        # The bucket's lifecycle removes the rest of an upload that a killed process has left.
        with contextlib.suppress(AwsRefusal):
            bucket.call("abort_multipart_upload", Key=key, UploadId=upload)
        if isinstance(error, AwsRefusal) and error.code in ("PreconditionFailed", "ConditionalRequestConflict"):
            return False
        raise
    return True


def _at_once(workers: int, work: Callable[..., T], items: Iterable[object]) -> list[T]:
    """Return the results of work that threads do; after the first failure none begins."""
    with ThreadPoolExecutor(workers, "parts") as pool:
        try:
            return list(pool.map(work, items))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _ranges(size: int, part: int) -> list[_Range]:
    """Return start and length of each part."""
    return [(start, min(part, size - start)) for start in range(0, size, part)]


def _read(descriptor: int, piece: _Range) -> bytes:
    """Return a part of a file. Raises OSError for a file that ends earlier."""
    start, length = piece
    content = os.pread(descriptor, length, start)
    # One call of Linux reads at most 2 GiB, and may read less.
    while len(content) < length:
        more = os.pread(descriptor, length - len(content), start + len(content))
        if not more:
            raise OSError(f"the file ended at byte {start + len(content)} while it was sent")
        content += more
    return content
