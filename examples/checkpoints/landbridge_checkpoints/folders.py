"""Checkpoints of a run in a folder of a file system: complete under their name, or absent.

A checkpoint is `ROOT/RUN/NAME/` with `manifest.json` and the files below `files/`. It is written under another name,
synchronised to the disk, and appears by one rename.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from landbridge_checkpoints.manifest import (
    BLOCK_BYTES,
    Damaged,
    FileEntry,
    Generation,
    Manifest,
    is_checkpoint_name,
    order,
    read_manifest,
)
from landbridge_checkpoints.threads import run_all

MANIFEST, FILES = "manifest.json", "files"
_PARTIAL = ".partial-"
_ABANDONED_SECONDS = 24 * 3600

ReadBlock = Callable[[int, int], bytes]


@dataclass(frozen=True)
class CheckpointFolder:
    """Folder with the checkpoints of one run. `suffix` keeps the unfinished ones of two processes apart."""

    root: Path
    run: str
    suffix: str

    def path(self, name: str) -> Path:
        """Return the folder with the files of a checkpoint."""
        return self.root / self.run / name / FILES

    def names(self) -> list[str]:
        """Return the names of the complete checkpoints, newest first."""
        folder = self.root / self.run
        listed = os.listdir(folder) if folder.is_dir() else []
        return sorted((name for name in listed if is_checkpoint_name(name)), key=order, reverse=True)

    def begin(self, name: str) -> Path:
        """Create an empty folder for the files of a checkpoint."""
        self.discard(name)
        files = self.unfinished(name)
        files.mkdir(parents=True, exist_ok=True)
        return files

    def unfinished(self, name: str) -> Path:
        """Return the folder for the files of a checkpoint that `begin` creates."""
        return self._partial(name) / FILES

    def discard(self, name: str) -> None:
        """Remove an unfinished checkpoint of this process."""
        shutil.rmtree(self._partial(name), ignore_errors=True)

    def seal(self, name: str, step: int, generation: Generation, facts: Mapping[str, Any]) -> Manifest:
        """Complete a checkpoint whose files are written. Raises ValueError for links and special files."""
        base = self._partial(name) / FILES
        paths, folders = _scan(base)
        files = _entries(base, paths)
        manifest = Manifest(self.run, step, name, generation, files, tuple(folders), dict(facts), BLOCK_BYTES)
        self._publish(manifest)
        return manifest

    def fetch(self, manifest: Manifest, read: ReadBlock, workers: int = 4) -> None:
        """Write a checkpoint from blocks of another place. Raises Damaged for a block that differs from its SHA-256."""
        base = self.begin(manifest.name)
        for folder in manifest.folders:
            (base / folder).mkdir(parents=True, exist_ok=True)
        for file in manifest.files:
            (base / file.path).parent.mkdir(parents=True, exist_ok=True)
            with (base / file.path).open("wb") as stream:
                stream.truncate(file.size)

        def write(index: int, block: int, size: int, digest: str) -> None:
            body, path = read(index, block), manifest.files[index].path
            if len(body) != size or hashlib.sha256(body).hexdigest() != digest:
                raise Damaged(f"{manifest.name}: {path} does not match its SHA-256")
            with (base / path).open("r+b") as stream:
                stream.seek(block * manifest.block_bytes)
                stream.write(body)

        run_all([partial(write, *block) for block in manifest.blocks()], workers)
        self._publish(manifest)

    def manifest(self, name: str) -> Manifest:
        """Return the manifest of a checkpoint. Raises Damaged."""
        try:
            body = (self.root / self.run / name / MANIFEST).read_bytes()
        except OSError as error:
            raise Damaged(f"{name}: no readable manifest in {self.root}: {error.strerror}") from None
        return read_manifest(body, self.run, name)

    def verify(self, name: str) -> Manifest:
        """Return the manifest of a checkpoint after reading all its files. Raises Damaged."""
        manifest = self.manifest(name)
        base = self.path(name)
        for file in manifest.files:
            try:
                digests, size = (
                    tuple(_digests(base / file.path, manifest.block_bytes)),
                    (base / file.path).stat().st_size,
                )
            except OSError as error:
                raise Damaged(f"{name}: {file.path} in {self.root}: {error.strerror}") from None
            if size != file.size or digests != file.blocks:
                raise Damaged(f"{name}: {file.path} in {self.root} does not match its SHA-256")
        missing = [folder for folder in manifest.folders if not (base / folder).is_dir()]
        if missing:
            raise Damaged(f"{name}: {missing[0]} in {self.root} is missing")
        return manifest

    def reader(self, manifest: Manifest) -> ReadBlock:
        """Return a function that reads a block of a checkpoint here."""

        def read(index: int, block: int) -> bytes:
            path = self.path(manifest.name) / manifest.files[index].path
            try:
                with path.open("rb") as stream:
                    stream.seek(block * manifest.block_bytes)
                    return stream.read(manifest.block_bytes)
            except OSError as error:
                raise Damaged(f"{manifest.name}: {path}: {error.strerror}") from None

        return read

    def prune(self, keep: int, protected: Container[str]) -> None:
        """Remove all but the newest `keep` checkpoints and the protected ones, and unfinished ones of a former day."""
        folder = self.root / self.run
        for name in self.names()[keep:]:
            if name not in protected:
                # First the name: a checkpoint that is removed in part must not be visible.
                hidden = folder / f"{_PARTIAL}{name}-{self.suffix}"
                shutil.rmtree(hidden, ignore_errors=True)
                try:
                    os.rename(folder / name, hidden)
                except FileNotFoundError:
                    continue
                shutil.rmtree(hidden, ignore_errors=True)
        limit = time.time() - _ABANDONED_SECONDS
        for path in folder.glob(f"{_PARTIAL}*"):
            if not path.name.endswith(self.suffix) and path.lstat().st_mtime < limit:
                shutil.rmtree(path, ignore_errors=True)

    def _partial(self, name: str) -> Path:
        return self.root / self.run / f"{_PARTIAL}{name}-{self.suffix}"

    def _publish(self, manifest: Manifest) -> None:
        unfinished, final = self._partial(manifest.name), self.root / self.run / manifest.name
        for path in sorted(unfinished.rglob("*"), reverse=True):
            _sync(path)
        with (unfinished / MANIFEST).open("wb") as stream:
            stream.write(manifest.to_bytes())
            stream.flush()
            os.fsync(stream.fileno())
        _sync(unfinished)
        if final.exists():
            # A damaged copy of the same checkpoint.
            shutil.rmtree(final)
        os.rename(unfinished, final)
        _sync(final.parent)


def _scan(base: Path) -> tuple[list[str], list[str]]:
    """Return the files and the folders below a folder, by their relative paths."""
    files: list[str] = []
    folders: list[str] = []
    for path in sorted(base.rglob("*")):
        relative = path.relative_to(base).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ValueError(f"{path} is a link or a special file; a checkpoint has files and folders only")
        (folders if path.is_dir() else files).append(relative)
    return files, folders


def _entries(base: Path, paths: Sequence[str], workers: int = 4) -> tuple[FileEntry, ...]:
    """Return the files with the SHA-256 of their blocks; several threads compute them."""
    sizes = [(base / path).stat().st_size for path in paths]
    digests = [[""] * -(-size // BLOCK_BYTES) for size in sizes]

    def digest(index: int, block: int) -> None:
        with (base / paths[index]).open("rb") as stream:
            stream.seek(block * BLOCK_BYTES)
            digests[index][block] = hashlib.sha256(stream.read(BLOCK_BYTES)).hexdigest()

    blocks = [(index, block) for index, listed in enumerate(digests) for block in range(len(listed))]
    run_all([partial(digest, *block) for block in blocks], workers)
    return tuple(FileEntry(path, size, tuple(listed)) for path, size, listed in zip(paths, sizes, digests, strict=True))


def _digests(path: Path, block_bytes: int) -> Iterator[str]:
    with path.open("rb") as stream:
        while block := stream.read(block_bytes):
            yield hashlib.sha256(block).hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
