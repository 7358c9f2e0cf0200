"""Content store of a site: files of datasets by their SHA-256, which staged folders share by hard links."""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from landbridge.datasets import DatasetFile

#: ioctl of Linux that shares the blocks of two files (linux/fs.h).
_FICLONE = 0x40049409
_NO_LINK = (errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EOPNOTSUPP)


class ContentStore:
    """Content store in a folder. A file appears in it by rename, complete and on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Create the folders. Raises OSError."""
        for number in range(256):
            (self.root / "files" / f"{number:02x}").mkdir(parents=True, exist_ok=True)
        for name in ("partial", "locks"):
            (self.root / name).mkdir(exist_ok=True)

    def path(self, file: DatasetFile) -> Path:
        """Return the path of a file's content. An executable file has its own, because links share their mode."""
        return self.root / "files" / file.sha256[:2] / (file.sha256 + ("-x" if file.executable else ""))

    def partial(self, file: DatasetFile) -> Path:
        """Return the path of a large file of which only some blocks were read."""
        return self.root / "partial" / self.path(file).name

    def missing(self, files: Iterable[DatasetFile]) -> list[DatasetFile]:
        """Return one file for each content that the store lacks, or has with another size."""
        wanted = {self.path(file): file for file in files}
        present: set[Path] = set()
        for folder in {path.parent for path in wanted}:
            for entry in os.scandir(folder):
                path = folder / entry.name
                if path in wanted and entry.stat(follow_symlinks=False).st_size == wanted[path].size:
                    present.add(path)
        return [file for path, file in wanted.items() if path not in present]

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold a lock of the site. It is free when its process ends."""
        descriptor = os.open(
            self.root / "locks" / hashlib.sha256(name.encode()).hexdigest(), os.O_RDWR | os.O_CREAT, 0o600
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def remove_abandoned(self) -> None:
        """Remove small files that a killed process has not finished. The caller holds the lock of all transfers."""
        for entry in os.scandir(self.root / "partial"):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)

    def remove_unlinked(self) -> None:
        """Remove the files to which no staged folder links. The caller holds the lock of all transfers."""
        for path in (self.root / "files").glob("*/*"):
            if path.lstat().st_nlink == 1:
                path.unlink()

    def add(self, contents: Iterable[tuple[DatasetFile, memoryview]]) -> None:
        """Write small files: all of them to disk at once, then each under its name."""
        written = []
        incoming = self.root / "partial" / str(uuid.uuid4())
        incoming.mkdir()
        try:
            for number, (file, content) in enumerate(contents):
                path = incoming / str(number)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _mode(file))
                try:
                    write_at(descriptor, content, 0)
                    os.fchmod(descriptor, _mode(file))
                finally:
                    os.close(descriptor)
                written.append((path, self.path(file)))
            sync_file_system(incoming)
            for path, final in written:
                path.replace(final)
        finally:
            shutil.rmtree(incoming, ignore_errors=True)

    def finish(self, file: DatasetFile) -> None:
        """Move a large file, of which every block was written, to its name."""
        partial = self.partial(file)
        descriptor = os.open(partial, os.O_RDWR)
        try:
            os.fchmod(descriptor, _mode(file))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        partial.replace(self.path(file))

    def place(self, file: DatasetFile, target: Path, *, copied: bool = False) -> bool:
        """Create a file of a staged folder: as a link; if that is impossible or `copied`, as a copy. Return true for a link."""
        source = self.path(file)
        if not copied:
            try:
                os.link(source, target)
                return True
            except OSError as error:
                if error.errno not in _NO_LINK:
                    raise
        mode = _mode(file) | 0o200 if copied else _mode(file)
        with source.open("rb") as read, open(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "wb") as write:
            try:
                fcntl.ioctl(write.fileno(), _FICLONE, read.fileno())
            except OSError:
                shutil.copyfileobj(read, write, 1 << 20)
        return False


def write_at(descriptor: int, content: memoryview, offset: int) -> None:
    """Write all bytes at an offset."""
    while content:
        count = os.pwrite(descriptor, content, offset)
        content, offset = content[count:], offset + count


def _mode(file: DatasetFile) -> int:
    return 0o555 if file.executable else 0o444


def sync_file_system(folder: Path) -> None:
    """Write a file system's data to disk: one call for thousands of files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)
