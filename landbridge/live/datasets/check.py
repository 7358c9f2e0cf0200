"""Verification of a dataset: of its objects in the bucket, and of the files of a staged folder."""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from landbridge.aws_api.objects import ObjectBucket
from landbridge.datasets import DESCRIBING, DatasetFile, DatasetManifest, object_key
from landbridge.findings import Finding
from landbridge.user_files import open_user_file

_SHOWN_FILES = 3


def check_objects(bucket: ObjectBucket, manifest: DatasetManifest, *, read: bool = False) -> list[Finding]:
    """Return a finding for each damaged or absent object. Raises AwsRefusal.

    S3's own checksum is compared; with `read` every object is read and its SHA-256 computed.
    """

    def check(block: tuple[str, int]) -> Finding | None:
        sha256, size = block
        if read:
            body = bucket.get(object_key(sha256))
            is_absent, is_good = body is None, body is not None and hashlib.sha256(body).hexdigest() == sha256
        else:
            facts = bucket.head(object_key(sha256))
            is_absent, is_good = facts is None, facts is not None and (facts.size, facts.sha256) == (size, sha256)
        return None if is_good else block_fault(bucket.name, manifest, sha256, is_absent)

    with ThreadPoolExecutor(bucket.workers, "verify") as pool:
        return [fault for fault in pool.map(check, manifest.content.unique_blocks.items()) if fault is not None]


def check_folder(folder: Path, manifest: DatasetManifest, workers: int) -> list[Finding]:
    """Return a finding for each file of a staged folder that is absent or differs, and for each further file."""
    content = manifest.content

    def check(file: DatasetFile) -> str | None:
        digest = hashlib.sha256()
        try:
            descriptor = open_user_file(folder / file.path)
        except OSError as error:
            return f"{file.path!r}: {error.strerror}"
        with open(descriptor, "rb", buffering=0) as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        return None if digest.hexdigest() == file.sha256 else f"{file.path!r} differs from the manifest"

    with ThreadPoolExecutor(workers, "verify") as pool:
        faults = [fault for fault in pool.map(check, content.files) if fault is not None]
    known = {file.path for file in content.files} | {*DESCRIBING}
    faults += [f"{path!r} is not in the manifest" for path in _paths(folder) if path not in known]
    fix = "remove the folder, and stage the dataset again; if it is damaged again, remove its store too"
    return [Finding("dataset-content", fault, fix=fix, file=str(folder)) for fault in faults]


def block_fault(bucket: str, manifest: DatasetManifest, sha256: str, is_absent: bool) -> Finding:
    """Return the finding for a damaged or absent object, with files that it contains."""
    content = manifest.content
    numbers = {number for number, block in enumerate(content.blocks) if block.sha256 == sha256}
    paths = [file.path for file in content.files if any(piece.block in numbers for piece in content.slices(file))]
    named = ", ".join(repr(path) for path in paths[:_SHOWN_FILES])
    more = f" and {len(paths) - _SHOWN_FILES} more" if len(paths) > _SHOWN_FILES else ""
    state = "is absent" if is_absent else "is damaged: its bytes do not have its SHA-256"
    message = f"s3://{bucket}/{object_key(sha256)} {state}; it has bytes of {named}{more}"
    fix = f"`landbridge data put` of the same files as {content.name}:{manifest.version} sends it again"
    return Finding("dataset-object", message, fix=fix)


def _paths(folder: Path) -> Iterator[str]:
    """Yield the paths of the files in a folder."""
    for below, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(below, name), folder)
