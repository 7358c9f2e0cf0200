"""Lock of a host, which permits one daemon on it."""

import fcntl
from pathlib import Path
from typing import TextIO


def lock_host(path: Path) -> TextIO:
    """Lock the file that permits one daemon on this host; raise OSError if another one holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise OSError(f"{path}: another daemon runs") from None
    return file
