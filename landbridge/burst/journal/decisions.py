"""Decision log: one line of JSON for each decision record, for operators and log shippers."""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from landbridge.burst.journal.rows import record_fields, text_of
from landbridge.burst.model import DecisionRecord

MAX_LOG_BYTES = 50 * 1024 * 1024
KEPT_LOG_FILES = 3


class DecisionLog:
    """Decision log in a file. Above `limit` bytes it is renamed to `.1`, the older one to `.2`, and so on.

    If the log cannot be written, the lines go to stderr.
    """

    def __init__(self, path: Path, limit: int = MAX_LOG_BYTES, max_entries: int = KEPT_LOG_FILES) -> None:
        self._path, self._limit, self._max_files = path, limit, max_entries

    def write(self, records: Iterable[DecisionRecord]) -> None:
        lines = "".join(f"{line(record)}\n" for record in records)
        if not lines:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(lines)
                size = file.tell()
            if size > self._limit:
                self._rotate()
        except OSError as error:
            print(f"{self._path}: {error.strerror}: {lines}", file=sys.stderr, end="")

    def _rotate(self) -> None:
        for number in range(self._max_files - 1, 0, -1):
            path = self._path.with_name(f"{self._path.name}.{number}")
            if path.exists():
                path.replace(self._path.with_name(f"{self._path.name}.{number + 1}"))
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))


def line(record: DecisionRecord) -> str:
    """Return a record as one line of JSON with its time first, in ISO 8601."""
    time = datetime.fromtimestamp(record.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return text_of({"time": time, **{key: value for key, value in record_fields(record).items() if key != "at"}})
