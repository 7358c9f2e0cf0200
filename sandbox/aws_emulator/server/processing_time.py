"""Processing time of the emulator itself, which does not exist on AWS."""

import threading
import time


class ProcessingTime:
    """Time in seconds in which at least one call was in progress; a configured latency does not count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls, self._since, self._seconds = 0, 0.0, 0.0

    def __enter__(self) -> None:
        with self._lock:
            if self._calls == 0:
                self._since = time.monotonic()
            self._calls += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1
            if self._calls == 0:
                self._seconds += time.monotonic() - self._since

    @property
    def seconds(self) -> float:
        with self._lock:
            return self._seconds + (time.monotonic() - self._since if self._calls else 0.0)

    def reset(self) -> None:
        with self._lock:
            self._seconds, self._since = 0.0, time.monotonic()
