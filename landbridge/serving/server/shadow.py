"""Shadow: copies of requests for another model server on the loopback, whose answers are dropped.

A copy is sent after the client has its answer, by one thread with a bounded queue: if the other server is slower, copies are
dropped and counted, and no client waits.
"""

import http.client
import ssl
from collections.abc import Callable
from queue import Full, Queue
from threading import Thread
from urllib.parse import urlsplit

#: Header of a copy: a model server does not copy a copy.
SHADOW_HEADER = "X-Landbridge-Shadow"
_QUEUED = 32
_SECONDS = 10.0


class Shadow:
    """Sender of copies. `count` gets the result of each: answered, failed or dropped."""

    def __init__(self, url: str, authority: str, count: Callable[[str], None]) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "localhost", parts.port
        self._context = ssl.create_default_context(cafile=authority or None) if parts.scheme == "https" else None
        self._count = count
        self._queue: Queue[tuple[str, bytes]] = Queue(_QUEUED)
        Thread(target=self._send_all, name="shadow", daemon=True).start()

    def copy(self, path: str, body: bytes) -> None:
        """Queue a copy; drop it if the queue is full."""
        try:
            self._queue.put_nowait((path, body))
        except Full:
            self._count("dropped")

    def _send_all(self) -> None:
        while True:
            path, body = self._queue.get()
            try:
                self._count("answered" if self._send(path, body) == 200 else "failed")
            except (OSError, http.client.HTTPException):
                self._count("failed")

    def _send(self, path: str, body: bytes) -> int:
        if self._context is not None:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=_SECONDS, context=self._context
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)
        try:
            connection.request(
                "POST", path, body, {"Content-Type": "application/json", SHADOW_HEADER: "1", "Connection": "close"}
            )
            answered = connection.getresponse()
            answered.read()
            return answered.status
        finally:
            connection.close()
