"""Limits of a model server: requests per second of each client. Pure: the caller gives the time."""

from collections import OrderedDict

#: Clients whose rate is kept; the one with the oldest request is forgotten first.
_CLIENTS = 4096


class ClientRates:
    """Token buckets: each client may make `rate` requests per second, and as many at once. A rate of 0 is not a limit."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def admits(self, client: str, now: float) -> bool:
        """Count a request of the client at this time in seconds; return whether it is within the limit."""
        if self._rate <= 0:
            return True
        tokens, since = self._buckets.pop(client, (float(self._rate), now))
        tokens = min(float(self._rate), tokens + max(0.0, now - since) * self._rate)
        admitted = tokens >= 1.0
        self._buckets[client] = (tokens - 1.0 if admitted else tokens, now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return admitted
