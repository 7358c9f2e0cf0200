"""Manifest of a checkpoint: its files by blocks with SHA-256, in canonical JSON with a digest of all of it."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

FORMAT = 1
BLOCK_BYTES = 32 << 20
_NAME = re.compile(r"^(\d{12,})-(\d{6,})-[0-9a-f]{16}$")
_SHA256 = re.compile(r"^[0-9a-f]{64}$")


class Damaged(Exception):
    """Incomplete or changed checkpoint; the message has the reason."""


@dataclass(frozen=True)
class Generation:
    """Process that writes checkpoints of a run. Each start has a number that is greater than those of earlier starts."""

    number: int
    job: str
    restarts: int
    writer: str


@dataclass(frozen=True)
class FileEntry:
    """File of a checkpoint: path below its folder, size, and the SHA-256 of each block."""

    path: str
    size: int
    blocks: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """Description of a complete checkpoint. `folders` has all folders, since some formats need empty ones. `parts`: numbers of
    files by rank, in their order, if several processes have written them.
    """

    run: str
    step: int
    name: str
    generation: Generation
    files: tuple[FileEntry, ...]
    folders: tuple[str, ...]
    facts: Mapping[str, Any]
    block_bytes: int = BLOCK_BYTES
    parts: tuple[int, ...] = ()

    def part(self, index: int) -> tuple[int | None, int]:
        """Return the rank that wrote a file, and the number of the file among its own; None without ranks."""
        for rank, count in enumerate(self.parts):
            if index < count:
                return rank, index
            index -= count
        return None, index

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)

    def blocks(self) -> Iterator[tuple[int, int, int, str]]:
        """Yield the number of the file, the number of the block, its size and its SHA-256, of all blocks."""
        for index, file in enumerate(self.files):
            for block, digest in enumerate(file.blocks):
                yield index, block, min(self.block_bytes, file.size - block * self.block_bytes), digest

    def to_bytes(self) -> bytes:
        """Return the manifest as JSON with its digest."""
        content = {"format": FORMAT, **asdict(self)}
        if not self.parts:
            del content["parts"]
        return _canonical({**content, "digest": hashlib.sha256(_canonical(content)).hexdigest()})


def read_manifest(body: bytes, run: str, name: str) -> Manifest:
    """Return the manifest in JSON text. Raises Damaged for one that is changed, or of another checkpoint."""
    try:
        content = json.loads(body)
        digest = content.pop("digest")
        if content["format"] != FORMAT:
            raise Damaged(f"{name}: format {content['format']!r}; this program reads {FORMAT}")
        if digest != hashlib.sha256(_canonical(content)).hexdigest():
            raise Damaged(f"{name}: the manifest does not match its digest")
        files = tuple(FileEntry(str(f["path"]), int(f["size"]), tuple(f["blocks"])) for f in content["files"])
        manifest = Manifest(
            content["run"],
            content["step"],
            content["name"],
            Generation(**content["generation"]),
            files,
            tuple(content["folders"]),
            content["facts"],
            int(content["block_bytes"]),
            tuple(int(count) for count in content.get("parts", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{name}: unreadable manifest: {type(error).__name__}: {error}") from None
    if (manifest.run, manifest.name) != (run, name) or order(name)[0] != manifest.step:
        raise Damaged(f"{name}: the manifest describes {manifest.name} of run {manifest.run}")
    if problem := _problem(manifest):
        raise Damaged(f"{name}: {problem}")
    return manifest


def checkpoint_name(step: int, generation: Generation) -> str:
    """Return the name of a checkpoint; no other process uses it."""
    return f"{step:012d}-{generation.number:06d}-{generation.writer}"


def is_checkpoint_name(name: str) -> bool:
    """Return true for the name of a checkpoint."""
    return _NAME.match(name) is not None


def order(name: str) -> tuple[int, int, str]:
    """Return the sort key of a name: step, then number of the generation."""
    step, number, writer = name.split("-")
    return int(step), int(number), writer


def _problem(manifest: Manifest) -> str:
    """Return the reason why a manifest is refused, else "". A path must stay below the folder of the checkpoint."""
    if manifest.block_bytes < 1:
        return f"blocks of {manifest.block_bytes} bytes"
    if manifest.parts and (min(manifest.parts) < 0 or sum(manifest.parts) != len(manifest.files)):
        return f"{sum(manifest.parts)} files of ranks, and {len(manifest.files)} files"
    paths = [file.path for file in manifest.files]
    for path in (*paths, *manifest.folders):
        pure = PurePosixPath(path)
        if not pure.parts or pure.is_absolute() or ".." in pure.parts or str(pure) != path or "\0" in path:
            return f"path {path!r} leaves the checkpoint's folder"
    if len({*paths, *manifest.folders}) != len(paths) + len(manifest.folders):
        return "a path is listed twice"
    for file in manifest.files:
        if file.size < 0 or len(file.blocks) != -(-file.size // manifest.block_bytes):
            return f"{file.path}: {len(file.blocks)} blocks for {file.size} bytes"
        if not all(isinstance(block, str) and _SHA256.match(block) for block in file.blocks):
            return f"{file.path}: a block without a SHA-256"
    return ""


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
