"""Air-gap bundles on disk: written from a model folder, and unpacked into one. Members with weights are streamed, never held in memory."""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from landbridge.findings import Finding
from landbridge.models.air_gap import (
    CHECKSUMS,
    HISTORY,
    TAR_FORMAT,
    WEIGHTS,
    bundle_history,
    bundle_member,
    bundle_texts,
    finding,
    member_fault,
    members_in_order,
)
from landbridge.models.manifest import LARGEST_BYTES

_CHUNK = 1 << 20
_EXTENSIONS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
#: Landbridge's choice: the further header of a member has its size alone, which is 30 bytes.
_LARGEST_EXTENSION = 4096


class _Member(tarfile.TarInfo):
    """Header of a member. The library reads a further header into memory, so that a large one is refused."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Member":
        """Return the header of a block. Raises ReadError for a further header that is too large."""
        member = super().frombuf(buf, encoding, errors)
        if member.size < 0 or (member.type in _EXTENSIONS and member.size > _LARGEST_EXTENSION):
            raise tarfile.ReadError(f"a header has {member.size} bytes")
        return member


def write_bundle(folder: Path, digests: Mapping[str, str], history: Mapping[str, str], target: Path) -> None:
    """Write the air-gap bundle of a model folder to a file. The same content has the same bytes.

    `digests`: the SHA-256 of each file of the folder, which become the checksums: a file that changes meanwhile does not match them.
    """
    texts = bundle_texts(digests, history)
    with tarfile.open(target, mode="w", format=TAR_FORMAT) as archive:
        for name in members_in_order(digests):
            if name in texts:
                archive.addfile(bundle_member(name, len(texts[name])), io.BytesIO(texts[name]))
            else:
                with (folder / name).open("rb") as content:
                    archive.addfile(bundle_member(name, (folder / name).stat().st_size), content)


def unpack_bundle(bundle: Path, folder: Path) -> dict[str, str] | list[Finding]:
    """Write the model's files of an air-gap bundle into a folder; return the tags of its history, or all reasons why it is not valid."""
    digests: dict[str, str] = {}
    texts: dict[str, bytes] = {}
    try:
        with tarfile.open(bundle, mode="r:", tarinfo=_Member) as archive:
            for member in archive:
                if (fault := member_fault(member, digests)) is not None:
                    return [fault]
                content = archive.extractfile(member)
                assert content is not None  # a regular file
                if member.name in WEIGHTS:
                    with (folder / member.name).open("xb") as target:
                        digests[member.name] = _copied(content, target)
                    continue
                if member.size > LARGEST_BYTES:
                    return [finding(f"{member.name} is larger than {LARGEST_BYTES} bytes")]
                texts[member.name] = content.read()
                digests[member.name] = hashlib.sha256(texts[member.name]).hexdigest()
    except (tarfile.TarError, ValueError, EOFError) as error:
        return [finding(f"not a tar file: {error}")]
    history = bundle_history(digests, texts)
    for name, text in texts.items():
        if name not in (CHECKSUMS, HISTORY):
            (folder / name).write_bytes(text)
    return history


def _copied(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy a member into a file; return its SHA-256."""
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()
