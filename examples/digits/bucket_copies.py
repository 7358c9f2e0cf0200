"""Copies of the run's checkpoints in an S3 bucket, with the library `landbridge_checkpoints` (examples/checkpoints).

Only with LANDBRIDGE_CHECKPOINT_URL or `--checkpoint-url`, and with the library. A folder `epoch-000012` is one
checkpoint of the library, with the epoch as its step.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import checkpoints
import landbridge_checkpoints as library

PLACE = ".bucket-copies"


def open_copies(url: str, run: str, root: Path, keep: int, say: Callable[[str], None]) -> "BucketCopies":
    """Return the copies of a run; the newest one is on the local disk then. Raises SystemExit if that is not possible."""
    try:
        return BucketCopies(url, run, root, keep, say)
    except (library.Superseded, library.Unreachable, ValueError) as failure:
        raise SystemExit(f"{url}: {failure}") from None


class BucketCopies:
    """Copies of one run's checkpoints. Uploads run in the background and never stop training."""

    def __init__(self, url: str, run: str, root: Path, keep: int, say: Callable[[str], None]) -> None:
        scratch = os.environ.get("SCRATCH")
        local = Path(scratch) / "checkpoints" if scratch else root / PLACE
        self._store = library.CheckpointStore(run, url=url, local=local, keep=keep, say=say)
        self._say = say
        self._restored = self._store.restore()

    def newest_after(self, epoch: int) -> checkpoints.Checkpoint | None:
        """Return the newest copy if it is of a later epoch than the given one."""
        if self._restored is None or self._restored.step <= epoch:
            return None
        try:
            return checkpoints.verify(self._restored.path / checkpoints.folder_name(self._restored.step))
        except checkpoints.Damaged as damage:
            self._say(f"bucket: {damage}")
            return None

    def send(self, saved: checkpoints.Checkpoint) -> None:
        """Send a checkpoint in the background."""
        try:
            with self._store.writing(saved.epoch, saved.facts) as folder:
                shutil.copytree(saved.path, folder / saved.path.name)
        except (OSError, ValueError) as failure:
            self._say(f"{saved.path.name} is not sent to the bucket: {failure}")

    def finish(self, timeout: float) -> bool:
        """Wait for the last upload; false, after a message, if the timeout is reached before."""
        return self._store.finish(timeout)
