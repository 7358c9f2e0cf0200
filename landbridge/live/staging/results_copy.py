"""Copy of a run's results to the site: verified files in a folder that only root reads, then one rename.

The copy may be killed at any point. A complete file is not read again, a large one is continued after its last block.
"""

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.aws_api.objects import ObjectBucket
from landbridge.datasets import path_fault
from landbridge.findings import Finding, FindingsError
from landbridge.live.datasets.content_store import sync_file_system, write_at

#: File in a folder of results with its run, and with size and SHA-256 of each file.
RESULTS_FILE = ".landbridge-results.json"
#: Bytes of a request. Each request at a time has one in memory.
_BLOCK = 8 * 2**20


@dataclass(frozen=True, slots=True)
class ResultObject:
    """Object of a job: its path in the results, and the version that is copied."""

    path: str
    key: str
    size: int
    etag: str

    @property
    def requests(self) -> int:
        """Return the number of requests that read and verify it."""
        return 1 + -(-self.size // _BLOCK)

    @property
    def digest(self) -> str:
        """Return the name of its file in the folder of the copy."""
        return hashlib.sha256(f"{self.key}\n{self.etag}\n{self.size}".encode()).hexdigest()


def result_objects(bucket: ObjectBucket, prefix: str) -> list[ResultObject]:
    """Return the objects below a prefix. Raises AwsRefusal, and FindingsError for names that are not paths of files."""
    listed = [facts for facts in bucket.list(prefix) if not (facts.key.endswith("/") and facts.size == 0)]
    objects = [ResultObject(facts.key.removeprefix(prefix), facts.key, facts.size, facts.etag) for facts in listed]
    paths = {each.path for each in objects}
    faults = []
    for path in sorted(paths):
        parents = {path[:at] for at, character in enumerate(path) if character == "/"}
        reason = path_fault(path)
        if reason is None and path == RESULTS_FILE:
            reason = "this name is the one of the file that describes results"
        if reason is None and parents & paths:
            reason = f"{min(parents & paths)} is an object too, and cannot be a file and a folder"
        if reason is not None:
            faults.append(Finding("results-object", f"s3://{bucket.name}/{prefix}{path!r}: {reason}"))
    if faults:
        raise FindingsError(faults)
    return objects


class ResultsCopy:
    """Copy of objects into `folder`, on the file system of their place at the site."""

    def __init__(self, bucket: ObjectBucket, objects: Sequence[ResultObject], folder: Path) -> None:
        self._bucket, self._objects, self._folder = bucket, objects, folder
        self._files = folder / "files"
        self._advance: Callable[[int], None] = lambda count: None

    def left(self) -> tuple[int, int]:
        """Return number and bytes of the objects that are not copied yet."""
        complete = self._complete()
        missing = [each for each in self._objects if each.digest not in complete]
        return len(missing), sum(each.size - self._written(each) for each in missing)

    def fetch(self, advance: Callable[[int], None]) -> None:
        """Copy and verify the objects. Raises AwsRefusal, OSError, and FindingsError with each damaged object."""
        self._files.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._advance = advance
        complete = self._complete()
        missing = [each for each in self._objects if each.digest not in complete]
        needed, free = self.left()[1], shutil.disk_usage(self._files).free
        if needed > free:
            message = f"{self._folder} has {free:,} bytes free, and the results need {needed:,}"
            raise FindingsError([Finding("results-room", message)])
        with ThreadPoolExecutor(self._bucket.workers, "results") as pool:
            try:
                faults = [fault for fault in pool.map(self._fetch, missing) if fault is not None]
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        if faults:
            raise FindingsError(faults)

    def publish(self, target: Path, described: dict[str, Any], uid: int, gid: int) -> None:
        """Give the files to their owner, and move them to `target` at once. Raises OSError."""
        complete, tree = self._complete(), self._folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        rows = []
        for each in sorted(self._objects, key=lambda each: each.path):
            (tree / each.path).parent.mkdir(parents=True, exist_ok=True)
            sha256 = complete[each.digest]
            os.link(self._files / f"{each.digest}-{sha256}", tree / each.path)
            rows.append({"path": each.path, "size": each.size, "sha256": sha256})
        (tree / RESULTS_FILE).write_text(json.dumps({**described, "files": rows}, indent=1) + "\n")
        for folder, _, names in os.walk(tree):
            for path, mode in ((Path(folder), 0o750), *((Path(folder, name), 0o640) for name in names)):
                path.chmod(mode)
                os.chown(path, uid, gid, follow_symlinks=False)
        sync_file_system(tree)
        tree.rename(target)

    def _complete(self) -> dict[str, str]:
        """Return the SHA-256 of each complete file by its name."""
        names = os.listdir(self._files) if self._files.is_dir() else []
        pairs = (name.partition("-") for name in names)
        return {digest: sha256 for digest, _, sha256 in pairs if sha256}

    def _part(self, each: ResultObject) -> Path:
        return self._files / each.digest

    def _written(self, each: ResultObject) -> int:
        part = self._part(each)
        return min(part.stat().st_size, each.size) if part.exists() else 0

    def _fetch(self, each: ResultObject) -> Finding | None:
        part = self._part(each)
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            position = self._written(each)
            while position < each.size:
                body = self._bucket.get_range(each.key, each.etag, position, min(_BLOCK, each.size - position))
                if body is None:
                    return self._fault(each, "was written or deleted during the copy")
                write_at(descriptor, memoryview(body), position)
                os.fsync(descriptor)
                position += len(body)
                self._advance(len(body))
        finally:
            os.close(descriptor)
        facts = self._bucket.head(each.key)
        if facts is None or facts.etag != each.etag:
            return self._fault(each, "was written or deleted during the copy")
        sha256, crc32 = _checksums(part, with_crc=facts.sha256 is None and facts.crc32 is not None)
        if facts.sha256 not in (None, sha256) or (crc32 is not None and facts.crc32 != crc32):
            part.unlink()
            return self._fault(each, "does not match its checksum")
        part.rename(self._files / f"{each.digest}-{sha256}")
        return None

    def _fault(self, each: ResultObject, reason: str) -> Finding:
        return Finding("results-object", f"s3://{self._bucket.name}/{each.key} {reason}")


def _checksums(path: Path, *, with_crc: bool) -> tuple[str, str | None]:
    """Return SHA-256 and CRC-32 of a file as hex digits."""
    sha256, crc = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            sha256.update(block)
            crc = zlib.crc32(block, crc) if with_crc else 0
    return sha256.hexdigest(), f"{crc:08x}" if with_crc else None
