"""Objects in a folder of a shared file system (`file:///FOLDER`), with the conditional writes of S3.

An object appears by a hard link, which the file system creates for one process alone, also on NFS and Lustre without locks.
The n-th conditional write of a key is the file `KEY.vN`; the greatest number is the object, and the number is its ETag. So of
two processes that replace the same version one is refused.
"""

import os
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from landbridge_checkpoints.objects import ListedObject, Unreachable
from landbridge_checkpoints.rate import upload_rate

_VERSION = re.compile(r"^(.+)\.v(\d+)$")
_INCOMING = ".incoming-"
_ATTEMPTS = 20


class SharedFolder:
    """Objects below `file:///FOLDER`."""

    def __init__(self, url: str, limit_mbit: float | None = None) -> None:
        parts = urlsplit(url)
        path = unquote(parts.path)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not path.startswith("/") or parts.query:
            raise ValueError(f"{url!r} is not file:///FOLDER")
        self.url, self._root = url.rstrip("/"), Path(path)
        self._rate = upload_rate(limit_mbit)

    def get(self, key: str) -> tuple[bytes, str] | None:
        """Return the bytes and the ETag of an object; None without one. Raises Unreachable."""
        try:
            for _ in range(_ATTEMPTS):
                version = self._version(key)
                try:
                    return self._path(key, version).read_bytes(), str(version)
                except FileNotFoundError:
                    if version == 1 and self._version(key) == 1:
                        return None
        except OSError as error:
            raise Unreachable(f"read {key}: {error}") from error
        raise Unreachable(f"read {key}: it changed {_ATTEMPTS} times")

    def put(self, key: str, body: bytes, *, if_absent: bool = False, if_etag: str | None = None) -> str | None:
        """Write an object and return its ETag; None if its condition does not hold. Raises Unreachable."""
        self._rate.take(len(body))
        final = self._path(key, 1 if if_etag is None else int(if_etag) + 1)
        incoming = final.parent / f"{_INCOMING}{uuid.uuid4().hex}"
        try:
            if if_absent and self._version(key) > 1:
                return None
            final.parent.mkdir(parents=True, exist_ok=True)
            try:
                _write(incoming, body)
                if not if_absent and if_etag is None:
                    os.rename(incoming, final)
                    return "1"
                try:
                    os.link(incoming, final)
                except FileExistsError:
                    # An answer of NFS that was lost: the link exists, and it is that of this file.
                    if not _is_same_file(incoming, final):
                        return None
                return "1" if if_etag is None else self._replaced(key, int(if_etag) + 1)
            finally:
                incoming.unlink(missing_ok=True)
                _sync(final.parent)
        except OSError as error:
            raise Unreachable(f"write {key}: {error}") from error

    def list(self, folder: str) -> Iterator[ListedObject]:
        """Yield the objects below a folder. Raises Unreachable."""
        try:
            for path in sorted((self._root / folder).rglob("*")):
                if path.name.startswith(_INCOMING) or _VERSION.match(path.name):
                    continue
                try:
                    status = path.stat()
                except FileNotFoundError:
                    continue
                if path.is_file():
                    yield ListedObject(
                        path.relative_to(self._root).as_posix(), datetime.fromtimestamp(status.st_mtime, UTC)
                    )
        except OSError as error:
            raise Unreachable(f"list {folder}: {error}") from error

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects, and the folders that are empty then. Raises Unreachable."""
        try:
            for key in keys:
                self._path(key, 1).unlink(missing_ok=True)
            for parent in {self._path(key, 1).parent for key in keys}:
                try:
                    parent.rmdir()
                except OSError:
                    continue
        except OSError as error:
            raise Unreachable(f"delete {keys[0]}: {error}") from error

    def _replaced(self, key: str, version: int) -> str | None:
        """Return the ETag of a version that was linked; None if a greater one exists, so that this one had been removed before."""
        if self._version(key) > version:
            self._path(key, version).unlink(missing_ok=True)
            return None
        for old in _versions(self._root / key):
            # The version before stays for programs that read its number already; the first one says that the key exists.
            if 1 < old < version - 1:
                self._path(key, old).unlink(missing_ok=True)
        return str(version)

    def _version(self, key: str) -> int:
        return max(_versions(self._root / key), default=1)

    def _path(self, key: str, version: int) -> Path:
        path = self._root / key
        return path if version == 1 else path.with_name(f"{path.name}.v{version}")


def _versions(path: Path) -> list[int]:
    """Return the numbers of the conditional writes after the first one."""
    try:
        names = os.listdir(path.parent)
    except FileNotFoundError:
        return []
    matches = (_VERSION.match(name) for name in names)
    return [int(match[2]) for match in matches if match is not None and match[1] == path.name]


def _is_same_file(path: Path, other: Path) -> bool:
    """Return whether both paths are one file; False if the other path is gone, as after two further versions."""
    try:
        return path.samefile(other)
    except FileNotFoundError:
        return False


def _write(path: Path, body: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(body)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
