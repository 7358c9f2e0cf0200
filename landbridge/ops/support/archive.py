"""Archive of a bundle: tar with gzip, readable by its owner alone."""

import gzip
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

from landbridge.ops.support.parts import SupportBundle

MANIFEST = "manifest.json"


def write_archive(path: Path, bundle: SupportBundle, folder: str, manifest: dict[str, Any], now: float) -> None:
    """Write the archive with mode 0600. Raises FileExistsError: a bundle replaces no file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=now) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        first = json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n"
        for name, content in ((MANIFEST, first), *((part.name, part.content) for part in bundle.parts)):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), 0o600, int(now)
            archive.addfile(entry, io.BytesIO(content))
