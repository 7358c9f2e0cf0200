"""Snapshots of the journal in a folder that a pair of controllers shares."""

import time
from collections.abc import Callable
from pathlib import Path

from landbridge.burst.daemon.log import log
from landbridge.burst.journal.store import Store

#: Maximum age of the snapshot while only the lease changes.
SNAPSHOT_INTERVAL_SECONDS = 30.0
#: Time for which a controller that takes over waits for a snapshot that cannot be read. An earlier pass of its own would
#: replace the snapshot by an older journal.
UNREADABLE_SNAPSHOT_SECONDS = 120.0


class JournalSnapshots:
    """Snapshots of the journal of one controller. Without a folder, it writes and loads none.

    `holder`: this controller's name in a lease. `failed` is called with the kind and the text of an error.
    """

    _store: Store
    _folder: Path | None = None
    _copied: tuple[int, float]  # of the last snapshot: count of journal saves, monotonic time

    def __init__(self, holder: str, failed: Callable[[str, str], None]) -> None:
        self._holder, self._failed = holder, failed
        self._unreadable_since: float | None = None  # monotonic time

    def use(self, store: Store, folder: Path | None) -> None:
        """Set the journal and the folder; the next snapshot is due at once."""
        self._store, self._folder = store, folder
        self._copied = (-1, 0.0)

    def write(self) -> None:
        """Write a snapshot if the journal was saved, or if the last one is old."""
        folder, (saves, at) = self._folder, self._copied
        # A journal without a lease has replaced a lost one in this pass: the next pass continues from the copy.
        is_recent = self._store.saves == saves and time.monotonic() < at + SNAPSHOT_INTERVAL_SECONDS
        if folder is None or is_recent or self._store.lease() is None:
            return
        try:
            self._store.snapshot(folder)
            self._copied = (self._store.saves, time.monotonic())
        except OSError as error:
            self._failed("snapshot", str(error))

    def load(self) -> bool:
        """Load the snapshot of the controller that acted last; return whether this one may act."""
        folder = self._folder
        if folder is None:
            return True
        try:
            is_loaded = self._store.restore(folder)
        except OSError as error:
            self._failed("snapshot", f"{folder}: {error.strerror or error}")
            self._unreadable_since = self._unreadable_since or time.monotonic()
            return time.monotonic() - self._unreadable_since >= UNREADABLE_SNAPSHOT_SECONDS
        self._unreadable_since = None
        if is_loaded:
            lease = self._store.lease()
            owner = "its own" if lease is not None and lease[0] == self._holder else "the other controller's"
            log(f"continues from {owner} journal in {folder}")
        return True
