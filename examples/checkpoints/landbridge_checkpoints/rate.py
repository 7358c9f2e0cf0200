"""Bandwidth limit of uploads."""

import threading
import time
from collections.abc import Callable


class UploadRate:
    """Bandwidth limit that all threads share; None: no limit."""

    def __init__(
        self,
        bytes_per_second: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.bytes_per_second = bytes_per_second
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._free_at = clock()

    def take(self, count: int) -> None:
        """Wait until `count` further bytes may be sent."""
        if self.bytes_per_second is None:
            return
        with self._lock:
            self._free_at = max(self._free_at, self._clock()) + count / self.bytes_per_second
            wait = self._free_at - self._clock()
        self._sleep(max(0.0, wait))


def upload_rate(limit_mbit: float | None) -> UploadRate:
    """Return the limit of a number of Mbit/s."""
    return UploadRate(None if limit_mbit is None else limit_mbit * 125_000)
