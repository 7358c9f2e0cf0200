"""Markers in a bucket: an upload and a deletion of objects never run at the same time.

Both write their marker first and then read the other's; S3 reads are consistent, so that at least one of the two sees
the other and ends. Ages are differences of S3's own times.
"""

import hashlib
import json
import socket
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from landbridge.aws_api.objects import ObjectBucket, ObjectFacts
from landbridge.catalog.aws.datasets import DatasetFacts
from landbridge.datasets import GC_MARKER, PUTS
from landbridge.findings import Finding, FindingsError

_RUNNING, _ENDED = "running", "ended"


class UploadMarker:
    """Marker of one upload. Raises FindingsError if objects are being deleted."""

    def __init__(self, bucket: ObjectBucket, facts: DatasetFacts, name: str) -> None:
        self._bucket, self._facts = bucket, facts
        self.key = f"{PUTS}{name}/{uuid.uuid4()}.json"
        self._written = 0.0
        self._write(_RUNNING)
        deletion = state_of(bucket, GC_MARKER)
        if deletion is not None and _age(bucket, self.key, deletion[1]) < facts.gc_silence:
            self.end()
            message = f"objects of {bucket.name} are being deleted since {deletion[1].modified:%Y-%m-%d %H:%M} UTC"
            fix = f"repeat it when `landbridge data gc` has ended, at the latest {facts.gc_silence} after this time"
            raise FindingsError([Finding("dataset-gc-running", message, fix=fix)])

    def renew(self) -> None:
        """Write the marker again if it is older than its renewal time. Raises FindingsError if it counts as abandoned."""
        if time.time() - self._written >= self._facts.put_renewal.total_seconds():
            self.require()
            self._write(_RUNNING)

    def require(self) -> None:
        """Raise FindingsError if the marker was not renewed for so long that objects may have been deleted."""
        # time.time(): a machine that was suspended counts too.
        if time.time() - self._written > self._facts.put_silence.total_seconds() / 2:
            message = "this upload was interrupted for hours, in which objects may have been deleted"
            raise FindingsError([Finding("dataset-put-interrupted", message, fix="repeat the command")])

    def end(self) -> None:
        """Write that the upload has ended. The mover may delete nothing."""
        self._write(_ENDED)

    def _write(self, state: str) -> None:
        written = time.time()
        write_state(self._bucket, self.key, state)
        self._written = written


class DeletionMarker:
    """Marker of a deletion, as a context: it is held by one process at a time. Raises FindingsError."""

    def __init__(self, bucket: ObjectBucket, facts: DatasetFacts) -> None:
        self._bucket, self._facts = bucket, facts
        self._written = 0.0

    def __enter__(self) -> "DeletionMarker":
        probe = f"{PUTS}gc/{uuid.uuid4()}.json"
        write_state(self._bucket, probe, _ENDED)  # its time is S3's present time
        before = self._bucket.head(GC_MARKER)
        running = state_of(self._bucket, GC_MARKER)
        if running is not None and _age(self._bucket, probe, running[1]) < self._facts.gc_silence:
            raise FindingsError([_other_deletion(running[1])])
        self._written = time.time()
        if not _compare_and_write(self._bucket, before):
            raise FindingsError([Finding("dataset-gc-running", "another `landbridge data gc` has just started")])
        return self

    def __exit__(self, *_: object) -> None:
        write_state(self._bucket, GC_MARKER, _ENDED)

    def now(self) -> datetime:
        """Return the time at which the marker was written, by S3's clock."""
        facts = self._bucket.head(GC_MARKER)
        assert facts is not None
        return facts.modified

    def require(self) -> None:
        """Renew the marker. Raises FindingsError if it counts as abandoned."""
        if time.time() - self._written > self._facts.gc_silence.total_seconds() / 2:
            raise FindingsError([Finding("dataset-gc-interrupted", "the deletion was interrupted", fix="repeat it")])
        self._written = time.time()
        write_state(self._bucket, GC_MARKER, _RUNNING)


def running_uploads(bucket: ObjectBucket, now: datetime, silence: timedelta) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and marker of each upload that is running: its marker is younger than `silence`."""
    for object_facts in bucket.list(PUTS):
        if now - object_facts.modified < silence and (state := state_of(bucket, object_facts.key)) is not None:
            yield object_facts.key.removeprefix(PUTS).partition("/")[0], state[0]


def state_of(bucket: ObjectBucket, key: str) -> tuple[dict[str, Any], ObjectFacts] | None:
    """Return content and facts of a running marker; None for an ended one or without one."""
    facts, text = bucket.head(key), bucket.get(key)
    if facts is None or text is None:
        return None
    try:
        state = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return {"state": _RUNNING}, facts
    return None if state.get("state") == _ENDED else (state, facts)


def write_state(bucket: ObjectBucket, key: str, state: str) -> None:
    """Write a marker."""
    text = _text(state)
    bucket.put(key, text, hashlib.sha256(text).hexdigest())


def _compare_and_write(bucket: ObjectBucket, before: ObjectFacts | None) -> bool:
    text = _text(_RUNNING)
    digest = hashlib.sha256(text).hexdigest()
    if before is None:
        return bucket.put(GC_MARKER, text, digest, if_absent=True)
    return bucket.put(GC_MARKER, text, digest, if_etag=before.etag)


def _text(state: str) -> bytes:
    # Different at each write: with equal texts a condition on the ETag would hold for two processes.
    content = {"state": state, "host": socket.gethostname(), "id": str(uuid.uuid4())}
    return json.dumps(content, sort_keys=True).encode()


def _age(bucket: ObjectBucket, present_key: str, facts: ObjectFacts) -> timedelta:
    present = bucket.head(present_key)
    return present.modified - facts.modified if present is not None else timedelta(0)


def _other_deletion(facts: ObjectFacts) -> Finding:
    return Finding("dataset-gc-running", f"another `landbridge data gc` runs since {facts.modified:%Y-%m-%d %H:%M} UTC")
