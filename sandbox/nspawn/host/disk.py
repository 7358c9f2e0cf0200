"""Check of free disk space before a large write."""

import os
from pathlib import Path

from sandbox.nspawn.errors import LabError


def need(folder: Path, mebibytes: int, what: str) -> None:
    """Raise unless the file system that holds `folder` (or its nearest existing parent) has that much room."""
    place = folder
    while not place.exists():
        place = place.parent
    figures = os.statvfs(place)
    free = figures.f_bavail * figures.f_frsize // 2**20
    if free < mebibytes:
        raise LabError(
            f"{what} needs {mebibytes} MiB in {folder}, and {free} MiB are free",
            "free some space, or set XDG_CACHE_HOME and XDG_STATE_HOME to a larger disk",
        )
