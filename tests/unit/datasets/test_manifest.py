"""Manifest: the same files have the same digest, and no manifest that was changed is accepted."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from landbridge.datasets import DatasetBlock, DatasetContent, DatasetFile, DatasetManifest, ManifestError

A, B = (hashlib.sha256(text).hexdigest() for text in (b"aaaa", b"bbb"))
BLOCKS = (DatasetBlock(A, 10), DatasetBlock(B, 4))
CONTENT = DatasetContent(
    "corpus",
    "internal",
    (DatasetFile("a", 3, A, 0, 0), DatasetFile("big", 11, B, 0, 3), DatasetFile("empty", 0, A, 0, 0, True)),
    BLOCKS,
)
MANIFEST = DatasetManifest.of(CONTENT, "v1", "2026-11-26T00:00:00Z")


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert DatasetManifest.parse(MANIFEST.to_bytes()) == MANIFEST


def test_the_digest_depends_on_the_content_alone() -> None:
    later = DatasetManifest.of(CONTENT, None, "2027-01-01T00:00:00Z")
    assert later.content.digest == CONTENT.digest
    assert later.version == CONTENT.digest[:16]
    other = DatasetContent("corpus", "internal", CONTENT.files[:2], BLOCKS)
    assert other.digest != CONTENT.digest


def test_the_bytes_of_a_file_go_on_in_the_next_block() -> None:
    slices = [
        (piece.block, piece.block_offset, piece.file_offset, piece.length) for piece in CONTENT.slices(CONTENT.files[1])
    ]
    assert slices == [(0, 3, 0, 7), (1, 0, 7, 4)]
    assert list(CONTENT.slices(CONTENT.files[2])) == []


def changed(change: Callable[[Any], object]) -> bytes:
    """Return the manifest with a change, and with the digest that belongs to it."""
    data = json.loads(MANIFEST.to_bytes())
    change(data)
    text = json.dumps(data["content"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    data["digest"] = hashlib.sha256(text).hexdigest()
    return json.dumps(data).encode()


CHANGES: dict[str, Callable[[Any], object]] = {
    "another format": lambda data: data.update(format=2),
    "a path outside of the folder": lambda data: data["content"]["files"][0].update(path="../a"),
    "an absolute path": lambda data: data["content"]["files"][0].update(path="/a"),
    "a path twice": lambda data: data["content"]["files"][1].update(path="a"),
    "unsorted paths": lambda data: data["content"]["files"].reverse(),
    "a file that is a folder": lambda data: data["content"]["files"][1].update(path="a/b"),
    "bytes outside of the blocks": lambda data: data["content"]["files"][1].update(size=12),
    "an offset outside of its block": lambda data: data["content"]["files"][0].update(offset=10),
    "a block that does not exist": lambda data: data["content"]["files"][0].update(block=2),
    "a negative size": lambda data: data["content"]["files"][0].update(size=-1),
    "a size that is not a number": lambda data: data["content"]["files"][0].update(size=True),
    "a SHA-256 with a slash": lambda data: data["content"]["blocks"][0].update(sha256="../" + A[3:]),
    "a name with a slash": lambda data: data["content"].update(name="a/b"),
    "no blocks": lambda data: data["content"].pop("blocks"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_manifest_that_cannot_be_staged_is_refused(change: Callable[[Any], object]) -> None:
    with pytest.raises(ManifestError):
        DatasetManifest.parse(changed(change))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"\xff", MANIFEST.to_bytes()[:-9], MANIFEST.to_bytes() + b"x"])
def test_a_text_that_is_no_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(ManifestError):
        DatasetManifest.parse(text)


def test_a_manifest_with_another_checksum_of_a_file_is_refused() -> None:
    with pytest.raises(ManifestError, match="digest"):
        DatasetManifest.parse(MANIFEST.to_bytes().replace(B.encode(), A.encode()))
