"""Model folder on disk: its files are read once, and compared with the manifest."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from landbridge.findings import Finding
from landbridge.models.formats import content_findings, name_findings
from landbridge.models.manifest import LARGEST_BYTES, ModelManifest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE

RULE = "model-folder"
_LARGEST_SMALL_FILE = {MANIFEST_FILE: LARGEST_BYTES, SIGNATURE_FILE: LARGEST_BYTES}


@dataclass(frozen=True)
class ModelFolder:
    """Content of a model folder: the files' bytes by name."""

    path: Path
    manifest: ModelManifest
    contents: dict[str, bytes]

    @property
    def weights(self) -> bytes:
        """Return the bytes of the weights."""
        return self.contents[self.manifest.weights]

    @property
    def signature(self) -> bytes | None:
        """Return the bytes of the signature; None without one."""
        return self.contents.get(SIGNATURE_FILE)


def read_folder(path: Path) -> ModelFolder | list[Finding]:
    """Return a model folder whose files are those of its manifest, or all reasons why it is none."""
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
    contents: dict[str, bytes] = {}
    try:
        for name in names:
            contents[name] = _read(path / name, _LARGEST_SMALL_FILE.get(name))
    except (OSError, ValueError) as error:
        return [*findings, Finding(RULE, f"{name}: {error}", file=name)]
    for name, content in contents.items():
        if name not in (MANIFEST_FILE, SIGNATURE_FILE):
            findings += content_findings(name, content)
    if MANIFEST_FILE not in contents:
        return findings
    manifest = ModelManifest.parse(contents[MANIFEST_FILE])
    if isinstance(manifest, list):
        return findings + manifest
    findings += _differences(manifest, contents)
    return findings or ModelFolder(path, manifest, contents)


def _differences(manifest: ModelManifest, contents: dict[str, bytes]) -> Iterator[Finding]:
    for name, file in manifest.files.items():
        if name not in contents:
            yield Finding(RULE, f"{name} is in the manifest and not in the folder", file=name)
        elif len(contents[name]) != file.size:
            message = f"{name} has {len(contents[name])} bytes, the manifest says {file.size}: it was replaced"
            yield Finding(RULE, message, file=name)
        elif hashlib.sha256(contents[name]).hexdigest() != file.sha256:
            yield Finding(RULE, f"{name} does not match the SHA-256 of the manifest: it was replaced", file=name)


def _read(path: Path, limit: int | None) -> bytes:
    """Return the bytes of a plain file. A symbolic link is not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a plain file")
        if limit is not None and status.st_size > limit:
            raise ValueError(f"it is larger than {limit} bytes")
        return file.read()
