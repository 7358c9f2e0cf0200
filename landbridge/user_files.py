"""Files that a user can write, for programs that read them as root or for others.

A pipe, a device, a link, a sparse file of terabytes or JSON of 100,000 levels is an error of this one file: it does not
block, fill the memory or end the program.
"""

import errno
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

#: Bytes of a file, and levels of its JSON, that are read at most.
MAX_BYTES, MAX_DEPTH = 1 << 20, 64
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def open_user_file(path: Path | str, folder: int | None = None, *, follow: bool = False) -> int:
    """Return a handle of a regular file for reading; `folder` is a handle of its directory. Raises OSError for another kind.

    `follow`: links are followed, for a process that has the rights of the user.
    """
    flags = os.O_RDONLY | (0 if follow else os.O_NOFOLLOW) | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    handle = os.open(path, flags, dir_fd=folder)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_user_file(
    path: Path | str, limit: int = MAX_BYTES, folder: int | None = None, *, follow: bool = False
) -> bytes:
    """Return the content of a regular file. Raises OSError, or ValueError for one of more than `limit` bytes."""
    with os.fdopen(open_user_file(path, folder, follow=follow), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"{Path(path).name} has more than {limit} bytes")
    return data


def read_user_json(path: Path | str, limit: int = MAX_BYTES, folder: int | None = None, *, follow: bool = False) -> Any:
    """Return the content of a JSON file. Raises OSError, or ValueError for one that is too large, too deep or not JSON."""
    return parse_user_json(read_user_file(path, limit, folder, follow=follow))


def read_user_head(path: Path | str, size: int, folder: int | None = None) -> bytes:
    """Return the first bytes of a regular file. Raises OSError."""
    with os.fdopen(open_user_file(path, folder), "rb") as file:
        return file.read(size)


def parse_user_json(data: bytes) -> Any:
    """Return the content of JSON. Raises ValueError if it is too deep or not JSON."""
    depth = 0
    for match in _TOKEN.finditer(data):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(match[0], 0)
        if depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} levels of JSON")
    return json.loads(data)
