"""Check of free disk space before a large write."""

import os
from pathlib import Path

from sandbox.nspawn.errors import LabError


def need(folder: Path, mebibytes: int, consumer: str) -> None:
    """Raise LabError unless the file system of `folder` (or of its nearest existing parent) has that much free."""
    existing = folder
    while not existing.exists():
        existing = existing.parent
    statistics = os.statvfs(existing)
    free = statistics.f_bavail * statistics.f_frsize // 2**20
    if free < mebibytes:
        raise LabError(
            f"{consumer} needs {mebibytes} MiB in {folder}, and {free} MiB are free",
            "free some space, or set XDG_CACHE_HOME and XDG_STATE_HOME to a larger disk",
        )
