"""Ledger of transfers: a file with a line of JSON before each transfer and one after it."""

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class TransferLedger:
    """Ledger in a file, to which several processes may append. A transfer without an `end` line was interrupted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, facts: Mapping[str, Any]) -> str:
        """Append the start of a transfer with its estimated cost, and return its id."""
        transfer = str(uuid.uuid4())
        self._append({"event": "begin", "transfer": transfer, **facts})
        return transfer

    def end(self, transfer: str, facts: Mapping[str, Any]) -> None:
        """Append the end of a transfer with the bytes that were moved and their cost."""
        self._append({"event": "end", "transfer": transfer, **facts})

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, oldest first. A last line that is cut off, by a full disk, is left out."""
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield dict(json.loads(line))
            except ValueError:
                continue

    def _append(self, facts: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="seconds"), **facts}, ensure_ascii=False)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # A line that was cut off would take this one with it.
            size = os.fstat(descriptor).st_size
            cut_off = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, f"{chr(10) if cut_off else ''}{line}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
