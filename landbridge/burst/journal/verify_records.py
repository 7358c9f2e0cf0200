"""Verification of signed records: their numbers, the digests of their chain, and their signatures."""

import base64
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from landbridge.burst.journal.signed_records import Head, canonical, digest, files


@dataclass(frozen=True, slots=True)
class RecordFault:
    """Fault of a line of a log."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Faults of a log, its last record, and the public keys (base64) of its records in their order."""

    faults: tuple[RecordFault, ...]
    head: Head
    keys: tuple[str, ...]


def verify(folder: Path, public_keys: Collection[str], expected: Head | None = None) -> Verification:
    """Verify the log in a folder with the site's public keys. `expected`: a record that an earlier verification reported as
    the last one; without it, records that were removed from the end are not detected.
    """
    faults: list[RecordFault] = []
    keys: dict[str, None] = {}
    head, has_expected, file = Head(), expected is None or expected.number == 0, folder
    for file, number, line in _lines(folder):
        record, text = _read(line)
        if record is None:
            faults.append(RecordFault(file, number, text))
            continue
        current = Head(record["number"], digest(line))
        faults += [RecordFault(file, number, text) for text in _faults(record, head, public_keys)]
        keys[record["key"]] = None
        head = current
        if expected is not None and current.number == expected.number:
            has_expected = True
            if current.digest != expected.digest:
                faults.append(
                    RecordFault(file, number, f"record {current.number} is not the one with the expected digest")
                )
    if not has_expected and expected is not None:
        text = f"the last record is {head.number}; record {expected.number} was removed"
        faults.append(RecordFault(file, 0, text))
    return Verification(tuple(faults), head, tuple(keys))


def _lines(folder: Path) -> Iterator[tuple[Path, int, bytes]]:
    for file in files(folder):
        for number, line in enumerate(file.read_bytes().splitlines(), start=1):
            yield file, number, line


def _read(line: bytes) -> tuple[dict[str, Any] | None, str]:
    try:
        record = json.loads(line)
        known = {"number": int, "previous": str, "time": str, "key": str, "body": dict, "signature": str}
        if set(record) == set(known) and all(isinstance(record[name], kind) for name, kind in known.items()):
            return record, ""
    except (ValueError, TypeError):
        pass
    return None, "the line is not a record"


def _faults(record: dict[str, Any], before: Head, public_keys: Collection[str]) -> Iterator[str]:
    number, wanted = record["number"], before.number + 1
    if number > wanted:
        yield f"record {number} follows {before.number}: {number - wanted} removed, or moved"
    elif number < wanted:
        yield f"record {number} follows {before.number}: repeated or moved"
    elif record["previous"] != before.digest:
        yield f"record {number} does not continue record {before.number}, which was changed"
    if record["key"] not in public_keys:
        yield f"record {number} has a key that does not belong to the site: {record['key']}"
        return
    signed = {name: value for name, value in record.items() if name != "signature"}
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(record["key"]))
        public.verify(base64.b64decode(record["signature"]), canonical(signed))
    except (InvalidSignature, ValueError):
        yield f"record {number} was changed: its signature is not valid"
