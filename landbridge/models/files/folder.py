"""Model folder on disk: its files are read once, and compared with the manifest. Weights are not held in memory.

Of an ONNX file all bytes are in memory while its fields are examined; it is smaller than 2 GiB. Of safetensors it is the header.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.findings import Finding
from landbridge.models.formats import bytes_to_examine, content_findings, name_findings
from landbridge.models.manifest import LARGEST_BYTES, ModelManifest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE, WEIGHT_FILES

RULE = "model-folder"
_SMALL_FILES = (MANIFEST_FILE, SIGNATURE_FILE)
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ModelFolder:
    """Content of a model folder: the bytes of manifest and signature, and the SHA-256 of each file, by name.

    `weights`: the bytes of an ONNX file, if the caller needs them; else None.
    """

    path: Path
    manifest: ModelManifest
    contents: Mapping[str, bytes]
    digests: Mapping[str, str] = field(default_factory=dict)
    weights: bytes | None = None

    @property
    def signature(self) -> bytes | None:
        """Return the bytes of the signature; None without one."""
        return self.contents.get(SIGNATURE_FILE)


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """File that was read once: the first bytes, which were examined, and size and SHA-256 of all of them."""

    beginning: bytes
    size: int
    sha256: str


def read_folder(path: Path, *, with_weights: bool = False) -> ModelFolder | list[Finding]:
    """Return a model folder whose files are the files in its manifest, or all reasons why it is not valid.

    `with_weights`: with the bytes of an ONNX file.
    """
    try:
        entries = list(os.scandir(path))
    except OSError as error:
        return [Finding(RULE, f"{path}: {error.strerror}")]
    names = sorted(entry.name for entry in entries)
    irregular = [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]
    findings = [Finding(RULE, f"{name} is not a plain file", file=name) for name in sorted(irregular)]
    findings += name_findings(names)
    if MANIFEST_FILE not in names:
        findings.append(Finding(RULE, f"{path}: {MANIFEST_FILE} is missing"))
    if irregular:
        return findings
    files: dict[str, _ReadFile] = {}
    weights: bytes | None = None
    try:
        for name in names:
            file = _read(path / name, LARGEST_BYTES if name in _SMALL_FILES else None)
            if name not in _SMALL_FILES:
                findings += content_findings(name, file.beginning, file.size)
                weights = file.beginning if with_weights and name == WEIGHT_FILES["onnx"] else None
                # The bytes of an ONNX file are free before the next file is read.
                file = _ReadFile(b"", file.size, file.sha256)
            files[name] = file
    except (OSError, ValueError) as error:
        return [*findings, Finding(RULE, f"{name}: {error}", file=name)]
    if MANIFEST_FILE not in files:
        return findings
    manifest = ModelManifest.parse(files[MANIFEST_FILE].beginning)
    if isinstance(manifest, list):
        return findings + manifest
    findings += _differences(manifest, files)
    small = {name: files[name].beginning for name in _SMALL_FILES if name in files}
    digests = {name: file.sha256 for name, file in files.items()}
    return findings or ModelFolder(path, manifest, small, digests, weights)


def folder_digest(path: Path) -> str:
    """Return the SHA-256 of a folder's manifest, which has the SHA-256 of each file; empty without a manifest."""
    try:
        return hashlib.sha256((path / MANIFEST_FILE).read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""


def _differences(manifest: ModelManifest, files: Mapping[str, _ReadFile]) -> Iterator[Finding]:
    for name, file in manifest.files.items():
        if name not in files:
            yield Finding(RULE, f"{name} is in the manifest and not in the folder", file=name)
        elif files[name].size != file.size:
            message = f"{name} has {files[name].size} bytes, the manifest has {file.size}: it was replaced"
            yield Finding(RULE, message, file=name)
        elif files[name].sha256 != file.sha256:
            yield Finding(RULE, f"{name} does not match the SHA-256 of the manifest: it was replaced", file=name)


def _read(path: Path, limit: int | None) -> _ReadFile:
    """Read a plain file once. A symbolic link is not followed. `limit`: the most bytes of a file that is read into memory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a plain file")
        if limit is not None and status.st_size > limit:
            raise ValueError(f"it is larger than {limit} bytes")
        # What was read is not read again: a file may change meanwhile.
        beginning = file.read(bytes_to_examine(path.name, b"", status.st_size) if limit is None else limit)
        if limit is None and (more := bytes_to_examine(path.name, beginning, status.st_size) - len(beginning)) > 0:
            beginning += file.read(more)
        digest, size = hashlib.sha256(beginning), len(beginning)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return _ReadFile(beginning, size, digest.hexdigest())
