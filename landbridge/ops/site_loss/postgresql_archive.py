"""Archive of PostgreSQL in pg_dump's custom format: whether its data is complete.

It begins with a list of contents, and has no mark of its end: it is complete if each entry of the list with data has a block of
data, and no block ends early. pg_restore reads the same, but an operator's machine may have none. pg_dump that writes to its
standard output may append the list once more, with the places of the blocks; pg_restore does not read it.
Source: PostgreSQL 12 to 18, src/bin/pg_dump: ReadHead, ReadToc and ReadOffset of pg_backup_archiver.c, _skipData and
_skipLOs of pg_backup_custom.c (read 2026-11-27).
"""

from pathlib import Path
from typing import BinaryIO

#: First bytes of the custom format.
_MAGIC = b"PGDMP"
#: Format of the file in its header: archCustom of pg_backup.h.
_CUSTOM = 1
#: Versions of the format that this module reads: of PostgreSQL 12 to 18.
_OLDEST, _NEWEST = (1, 14), (1, 16)
#: Version whose header has one byte for the compression, and that whose entries have the kind of the relation.
_COMPRESSION_BYTE, _RELATION_KIND = (1, 15), (1, 16)
#: State of an entry without data.
_NO_DATA = 3
#: Kinds of a block: data of a table, and large objects.
_TABLE, _LARGE_OBJECTS = 1, 3


def archive_problem(path: Path) -> str | None:
    """Return the words that complete a sentence about an archive that does not replace its database; None for a complete one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        magic = file.read(len(_MAGIC))
        if magic != _MAGIC:
            return "is cut off" if _MAGIC.startswith(magic) else "is not a dump of PostgreSQL"
        try:
            return _Archive(file, size).problem()
        except EOFError:
            return "is cut off"


class _Archive:
    """Reader of an archive, after its first bytes. Raises EOFError where the file ends too early."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size
        self._version = (self._byte(), self._byte())
        self._revision = self._byte()
        self._integer_size, self._offset_size = self._byte(), self._byte()
        self._format = self._byte()

    def problem(self) -> str | None:
        """Return the words about this archive."""
        if not _OLDEST <= self._version <= _NEWEST or self._format != _CUSTOM:
            version = f"version {self._version[0]}.{self._version[1]} and format {self._format}"
            return f"is a dump of {version}, which cannot be verified"
        self._skip_header()
        contents = self._contents()
        missing = set(contents)
        while missing:
            kind, number = self._byte(), self._integer()
            if kind not in (_TABLE, _LARGE_OBJECTS) or number not in missing:
                return "is damaged"
            self._skip_data(kind)
            missing.remove(number)
        is_followed = self._file.tell() < self._size
        if is_followed and (self._contents() != contents or self._file.tell() < self._size):
            return "is damaged"
        return None

    def _contents(self) -> list[int]:
        """Read the list of contents; return the numbers of the entries with data."""
        entries = [self._entry() for _ in range(self._integer())]
        return [number for number in entries if number is not None]

    def _skip_header(self) -> None:
        """Read compression, time (7 integers), the database's name and two versions."""
        if self._version >= _COMPRESSION_BYTE:
            self._byte()
        else:
            self._integer()
        for _ in range(7):
            self._integer()
        for _ in range(3):
            self._skip_string()

    def _entry(self) -> int | None:
        """Read an entry of the list; return its number if it has data."""
        number = self._integer()
        self._integer()  # whether the entry has a function that writes data
        for _ in range(4):  # identifiers of its table and of itself, tag, description
            self._skip_string()
        self._integer()  # section
        for _ in range(6):  # statements to create, drop and copy it, schema, tablespace, access method
            self._skip_string()
        if self._version >= _RELATION_KIND:
            self._integer()
        for _ in range(2):  # owner, whether the table has OIDs
            self._skip_string()
        while self._skip_string():  # entries that it needs
            pass
        state = self._byte()
        self._read(self._offset_size)
        return None if state == _NO_DATA else number

    def _skip_data(self, kind: int) -> None:
        """Read a block to its end. Large objects have a number each, and a zero after the last."""
        while kind == _TABLE or self._integer() != 0:
            while (length := self._integer()) > 0:
                self._skip(length)
            if kind == _TABLE:
                return

    def _skip_string(self) -> bool:
        """Read a string; return whether there is one, also an empty one."""
        length = self._integer()
        self._skip(max(length, 0))
        return length >= 0

    def _integer(self) -> int:
        sign = self._byte()
        value = int.from_bytes(self._read(self._integer_size), "little")
        return -value if sign else value

    def _byte(self) -> int:
        return self._read(1)[0]

    def _read(self, length: int) -> bytes:
        content = self._file.read(length)
        if len(content) < length:
            raise EOFError
        return content

    def _skip(self, length: int) -> None:
        if self._file.seek(length, 1) > self._size:
            raise EOFError
