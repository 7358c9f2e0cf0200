"""Held calls: calls whose answers an injected fault delays."""

import threading
from collections import Counter


class HeldCalls:
    """Held calls by action. `release` answers all of them at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._released = threading.Event()

    def hold(self, action: str, seconds: float) -> None:
        """Wait for `seconds`, or until `release`."""
        if not seconds:
            return
        with self._lock:
            self._counts[action] += 1
            released = self._released
        released.wait(seconds)
        with self._lock:
            self._counts[action] -= 1

    def release(self) -> None:
        """End every hold; later calls are held again."""
        with self._lock:
            self._released.set()
            self._released = threading.Event()

    def counts(self) -> dict[str, int]:
        """Return the number of calls that are held now, by action."""
        with self._lock:
            return dict(+self._counts)
