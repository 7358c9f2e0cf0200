"""Token buckets as in EC2's API limits: burst and refill rate by action, and `@instances` for launched instances."""

import threading
import time
from collections.abc import Callable


class TokenBucket:
    """Token bucket of at most `size` tokens, refilled with `rate` tokens/s; it starts full."""

    def __init__(self, size: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.size, self.rate, self._clock = float(size), float(rate), clock
        self._tokens, self._seen = self.size, clock()
        self._lock = threading.Lock()

    def take(self, count: float = 1) -> bool:
        """Take `count` tokens if the bucket has them; never wait."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self.size, self._tokens + (now - self._seen) * self.rate)
            self._seen = now
            if self._tokens < count:
                return False
            self._tokens -= count
            return True
