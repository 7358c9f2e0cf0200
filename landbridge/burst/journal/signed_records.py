"""Signed records: an append-only log in which each line contains the digest of the line before it and a signature (Ed25519).

The key is derived from a secret of the site, so that each controller of the site signs with the same key. A file has at most
about `limit` bytes; the next one continues its chain. No file is changed or deleted.
"""

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MAX_FILE_BYTES = 50 * 1024 * 1024
#: Digest before the first record.
FIRST = "0" * 64
_FILES = "records-*.jsonl"
_DIGITS = 10


class RecordsError(Exception):
    """Log that cannot be continued: its last line is not a record."""


@dataclass(frozen=True, slots=True)
class Head:
    """Last record of a log: its number and the digest of its line."""

    number: int = 0
    digest: str = FIRST


def signing_key(secret: str) -> Ed25519PrivateKey:
    """Return the key of a site from its secret (RFC 5869)."""
    seed = HKDF(SHA256(), 32, salt=None, info=b"landbridge residency records").derive(secret.strip().encode())
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key as base64 of its 32 bytes."""
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return the text that is signed: JSON with sorted keys, without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str).encode()


def digest(line: bytes) -> str:
    """Return the digest of a line without its end."""
    return hashlib.sha256(line).hexdigest()


def files(folder: Path) -> list[Path]:
    """Return the files of a log, the oldest first."""
    return sorted(folder.glob(_FILES))


class SignedRecords:
    """Log of signed records in a folder, which one process writes."""

    def __init__(self, folder: Path, key: Ed25519PrivateKey, limit: int = MAX_FILE_BYTES) -> None:
        """Continue the log in the folder. Raises RecordsError and OSError."""
        self._folder, self._key, self._limit = folder, key, limit
        self._public = public_text(key)
        folder.mkdir(mode=0o750, exist_ok=True)
        self.head = _head(folder)

    def write(self, bodies: Iterable[Mapping[str, Any]], at: float) -> None:
        """Append a record for each body. They are on disk when this returns."""
        head, lines = self.head, []
        time = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for body in bodies:
            number = head.number + 1
            record = {"number": number, "previous": head.digest, "time": time, "key": self._public, "body": dict(body)}
            # Written and read again, so that the signed text is the one that a reader of the line gets.
            text = canonical(record)
            signature = base64.b64encode(self._key.sign(text)).decode()
            line = text[:-1] + b',"signature":"' + signature.encode() + b'"}'
            head = Head(number, digest(line))
            lines.append(line + b"\n")
        if not lines:
            return
        with self._file(self.head.number + 1).open("ab") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        self.head = head

    def _file(self, first: int) -> Path:
        """Return the newest file, or a new one with the number of its first record."""
        known = files(self._folder)
        if known and known[-1].stat().st_size < self._limit:
            return known[-1]
        return self._folder / f"records-{first:0{_DIGITS}d}.jsonl"


def _head(folder: Path) -> Head:
    """Return the last record. A line without an end was not written completely: it is cut off."""
    for file in reversed(files(folder)):
        content = file.read_bytes()
        complete = content.rpartition(b"\n")[0]
        if len(content) > len(complete) + bool(complete):
            os.truncate(file, len(complete) + bool(complete))
        if complete:
            line = complete.rpartition(b"\n")[2]
            try:
                return Head(int(json.loads(line)["number"]), digest(line))
            except (ValueError, KeyError, TypeError) as error:
                raise RecordsError(f"{file}: its last line is not a record") from error
    return Head()
