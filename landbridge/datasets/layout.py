"""Layout of files in blocks: small files are packed together, a large file has blocks of its own."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilePiece:
    """Consecutive bytes of one file: the file's index, their offset in it, and their number."""

    file: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """Block: pieces of files, one after another. It is one object."""

    pieces: tuple[FilePiece, ...]

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return sum(piece.length for piece in self.pieces)


def plan_blocks(files: Sequence[tuple[str, int]], block_bytes: int) -> list[PlannedBlock]:
    """Return the blocks of files (path and size) in their order; none is larger than `block_bytes`.

    A file of `block_bytes` or more begins a block of its own. A pack of smaller files ends after a quarter of
    `block_bytes` or later, at a file that its path alone selects: so a file that is added or changed changes its own
    pack, and the packs after the next selected file stay those of the version before.
    """
    blocks: list[PlannedBlock] = []
    pack: list[FilePiece] = []
    packed = 0

    def end_pack() -> None:
        nonlocal pack, packed
        if pack:
            blocks.append(PlannedBlock(tuple(pack)))
        pack, packed = [], 0

    for index, (path, size) in enumerate(files):
        if size >= block_bytes:
            end_pack()
            for offset in range(0, size, block_bytes):
                blocks.append(PlannedBlock((FilePiece(index, offset, min(block_bytes, size - offset)),)))
            continue
        if size == 0:
            continue
        if packed + size > block_bytes:
            end_pack()
        pack.append(FilePiece(index, 0, size))
        packed += size
        if packed >= block_bytes // 4 and _ends_pack(path, size, block_bytes // 4):
            end_pack()
    end_pack()
    return blocks


def _ends_pack(path: str, size: int, mean: int) -> bool:
    """Return true for one of the files of about `mean` bytes; large files are selected more often."""
    return zlib.crc32(path.encode()) < min(1.0, size / mean) * 2**32
