"""Manifest of a dataset: its files, and the blocks that contain their bytes. Its content's digest identifies it."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from landbridge.datasets.names import name_fault, path_fault

FORMAT = 1
#: Hex digits of the digest that are the version of a dataset without a named one.
_VERSION_DIGITS = 16
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ManifestError(ValueError):
    """Manifest that is damaged, or of another format; the message has the reason."""


@dataclass(frozen=True, slots=True)
class DatasetBlock:
    """Object with bytes of files: its SHA-256, which is also in its key, and its size."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """File. Its bytes begin at `offset` of the block with the index `block`, and continue in the following blocks."""

    path: str
    size: int
    sha256: str
    block: int
    offset: int
    executable: bool = False


@dataclass(frozen=True, slots=True)
class BlockSlice:
    """Bytes of a file in one block."""

    block: int
    block_offset: int
    file_offset: int
    length: int


@dataclass(frozen=True)
class DatasetContent:
    """Content of a dataset. `files` are sorted by path; a block may be in `blocks` several times."""

    name: str
    data_class: str
    files: tuple[DatasetFile, ...]
    blocks: tuple[DatasetBlock, ...]

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)

    @cached_property
    def unique_blocks(self) -> dict[str, int]:
        """Return the size of each object by its SHA-256."""
        return {block.sha256: block.size for block in self.blocks}

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical JSON."""
        return hashlib.sha256(_canonical(self.to_dict())).hexdigest()

    def slices(self, file: DatasetFile) -> Iterator[BlockSlice]:
        """Yield the bytes of a file, block by block."""
        block, offset, done = file.block, file.offset, 0
        while done < file.size:
            length = min(file.size - done, self.blocks[block].size - offset)
            yield BlockSlice(block, offset, done, length)
            block, offset, done = block + 1, 0, done + length

    def to_dict(self) -> dict[str, Any]:
        """Return the content as plain data."""
        files = [
            {
                "path": file.path,
                "size": file.size,
                "sha256": file.sha256,
                "block": file.block,
                "offset": file.offset,
                **({"executable": True} if file.executable else {}),
            }
            for file in self.files
        ]
        blocks = [{"sha256": block.sha256, "size": block.size} for block in self.blocks]
        return {
            "name": self.name,
            "data_class": self.data_class,
            "files": files,
            "blocks": blocks,
            "size": self.size,
        }


@dataclass(frozen=True)
class DatasetManifest:
    """Manifest: the content under a version. `created` is not part of the digest: the same files have the same one."""

    content: DatasetContent
    version: str
    created: str

    @classmethod
    def of(cls, content: DatasetContent, version: str | None, created: str) -> "DatasetManifest":
        """Return the manifest of a version; without one the version is the first characters of the digest."""
        return cls(content, version or content.digest[:_VERSION_DIGITS], created)

    def to_bytes(self) -> bytes:
        """Return the text of the manifest's object."""
        return _canonical(
            {
                "format": FORMAT,
                "version": self.version,
                "created": self.created,
                "digest": self.content.digest,
                "content": self.content.to_dict(),
            }
        )

    @classmethod
    def parse(cls, text: bytes) -> "DatasetManifest":
        """Return the manifest of an object. Raises ManifestError, also for paths that leave the folder."""
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise ManifestError(f"format {data['format']!r}; this program reads {FORMAT}")
            listed = data["content"]
            blocks = tuple(DatasetBlock(_sha256(block["sha256"]), _size(block["size"])) for block in listed["blocks"])
            files = tuple(_file(file) for file in listed["files"])
            content = DatasetContent(str(listed["name"]), str(listed["data_class"]), files, blocks)
            version, created, digest = str(data["version"]), str(data["created"]), data["digest"]
        except ManifestError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ManifestError(f"no manifest: {type(error).__name__}: {error}") from None
        fault = name_fault(content.name, version) or _content_fault(content)
        if fault is not None:
            raise ManifestError(fault)
        if digest != content.digest:
            raise ManifestError(f"its digest is {content.digest}, the manifest has {digest}")
        return cls(content, version, created)


def _file(data: Any) -> DatasetFile:
    path = data["path"]
    if not isinstance(path, str):
        raise ManifestError("a path is not text")
    return DatasetFile(
        path,
        _size(data["size"]),
        _sha256(data["sha256"]),
        _size(data["block"]),
        _size(data["offset"]),
        data.get("executable", False) is True,
    )


def _content_fault(content: DatasetContent) -> str | None:
    """Return the reason why a content cannot be staged."""
    paths = [file.path for file in content.files]
    if paths != sorted(set(paths)):
        return "its paths are not sorted, or one is there twice"
    ends = [0]
    for block in content.blocks:
        ends.append(ends[-1] + block.size)
    folders: set[str] = set()
    for file in content.files:
        fault = path_fault(file.path)
        if fault is not None:
            return f"{file.path!r}: {fault}"
        parts = file.path.split("/")
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
        if file.size and (
            file.block >= len(content.blocks)
            or file.offset >= content.blocks[file.block].size
            or ends[file.block] + file.offset + file.size > ends[-1]
        ):
            return f"{file.path!r}: its bytes are outside of the blocks"
    both = folders.intersection(paths)
    return f"{min(both)!r} is a file and a folder" if both else None


def _sha256(value: Any) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ManifestError(f"{value!r} is not a SHA-256")
    return value


def _size(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ManifestError(f"{value!r} is not a number of bytes")
    return value


def _canonical(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
