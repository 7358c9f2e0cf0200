"""Object `latest.json` of a run: the generation that may write, and the newest uploaded checkpoint.

It changes by compare-and-swap alone (`If-Match` with the ETag that was read, `If-None-Match: *` for the first one), so
that of two processes one is refused. The step of its checkpoint never decreases.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from landbridge_checkpoints.manifest import FORMAT, Generation, order
from landbridge_checkpoints.objects import Objects, Unreachable

_ATTEMPTS = 20


class Superseded(Exception):
    """Newer process of the same run; this one must not write any more."""


@dataclass(frozen=True)
class _Content:
    """Content of the object and its ETag; None for an object that does not exist."""

    etag: str | None
    generation: Generation | None
    checkpoint: Mapping[str, Any] | None


class LatestPointer:
    """Pointer of one run, used by one process, which `process` describes; its number is the claim's number."""

    def __init__(self, bucket: Objects, run: str, process: Generation, say: Callable[[str], None]) -> None:
        self._bucket, self._key, self._run, self._say = bucket, f"{run}/latest.json", run, say
        self._process = process
        self.claimed: int | None = None

    def claim(self, *, starts: bool) -> None:
        """Make this process the only writer of the run. Raises Superseded, Unreachable.

        `starts`: this process has just started, so that it is newer than the writer in the object, unless both are starts
        of one job. Later, only the job id and restart count decide which process is newer.
        """
        for _ in range(_ATTEMPTS):
            content = self._read()
            writer = content.generation
            if writer is not None and writer.writer == self._process.writer:
                self.claimed = writer.number
                return
            if writer is not None and not _may_replace(self._process, writer, starts=starts):
                raise Superseded(_reason(writer))
            number = 1 if writer is None else writer.number + 1
            if self._write(replace(content, generation=replace(self._process, number=number))):
                self.claimed = number
                return
        raise Unreachable(f"{self._key}: {_ATTEMPTS} conditional writes were refused")

    def check(self) -> str | None:
        """Return the name of the newest uploaded checkpoint. Raises Superseded if another process claimed the run."""
        content = self._mine()
        return None if content.checkpoint is None else str(content.checkpoint["name"])

    def advance(self, name: str, digest: str) -> bool:
        """Point to a checkpoint whose manifest is in the bucket; false if its step is not greater. Raises Superseded."""
        step = order(name)[0]
        for _ in range(_ATTEMPTS):
            content = self._mine()
            present = content.checkpoint
            if present is not None and present["name"] == name:
                return True
            if present is not None and order(present["name"])[0] >= step:
                return False
            if self._write(replace(content, checkpoint={"name": name, "step": step, "manifest_sha256": digest})):
                return True
        raise Unreachable(f"{self._key}: {_ATTEMPTS} conditional writes were refused")

    def _mine(self) -> _Content:
        content = self._read()
        if content.generation is None:
            # Deleted or damaged by another program: the next write restores it.
            return replace(content, generation=replace(self._process, number=self.claimed or 1))
        if content.generation.writer != self._process.writer:
            raise Superseded(_reason(content.generation))
        return content

    def _read(self) -> _Content:
        stored = self._bucket.get(self._key)
        if stored is None:
            return _Content(None, None, None)
        body, etag = stored
        try:
            content = json.loads(body)
            generation, checkpoint = Generation(**content["generation"]), content["checkpoint"]
            if checkpoint is not None:
                order(checkpoint["name"])
            return _Content(etag, generation, checkpoint)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._say(f"{self._key} is unreadable and is written again: {type(error).__name__}: {error}")
            return _Content(etag, None, None)

    def _write(self, content: _Content) -> bool:
        assert content.generation is not None
        document = {
            "format": FORMAT,
            "run": self._run,
            "generation": asdict(content.generation),
            "checkpoint": content.checkpoint,
        }
        body = json.dumps(document, sort_keys=True, indent=1).encode()
        return self._bucket.put(self._key, body, if_absent=content.etag is None, if_etag=content.etag) is not None


def _may_replace(process: Generation, writer: Generation, *, starts: bool) -> bool:
    if process.job and process.job == writer.job:
        return process.restarts > writer.restarts or (starts and process.restarts == writer.restarts)
    if starts:
        return True
    return process.job.isdigit() and writer.job.isdigit() and int(process.job) > int(writer.job)


def _reason(writer: Generation) -> str:
    return f"generation {writer.number} (job {writer.job or 'without a number'}, restart {writer.restarts}) has the run"
