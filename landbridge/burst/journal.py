"""One JSON line for everything the burst programs did. Later the reconciler's journal; now what a person reads."""

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def journal(path: Path, program: str) -> Callable[..., None]:
    """A function `log(event, **facts)` that appends to `path`. A log that cannot be written stops no launch."""
    started = time.monotonic()

    def log(event: str, **facts: Any) -> None:
        about = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "program": program, "pid": os.getpid()}
        about |= {"seconds": round(time.monotonic() - started, 3), "event": event}
        line = json.dumps({**about, **{key: value for key, value in facts.items() if value is not None}}, default=str)
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            print(f"{path}: {error.strerror}: {line}", file=sys.stderr)

    return log
