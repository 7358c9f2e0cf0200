"""Shadow: copies of requests for the model server of the other slot on this host, whose answers are compared with the clients' answers.

A copy is sent after the client has its answer, by one thread with a bounded queue: if the other server is slower, copies are
dropped and counted, and no client waits. Requests and answers are in memory only; counters and distances leave it.
"""

import http.client
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Full, Queue
from random import randrange
from threading import Lock, Thread
from urllib.parse import urlsplit

from landbridge.serving.server.compare import Tolerance, compared
from landbridge.serving.server.metrics import ServerMetrics
from landbridge.serving.server.protocol import InputTensor

#: Header of a copy: a model server does not copy a copy, and counts it apart from requests of clients.
SHADOW_HEADER = "X-Landbridge-Shadow"
#: Headers of an answer: the version of the model, and to a copy the seconds of the prediction itself.
VERSION_HEADER, SECONDS_HEADER = "Landbridge-Model-Version", "Landbridge-Model-Seconds"
_QUEUED, _QUEUED_BYTES = 32, 16 * 1024 * 1024
_SECONDS = 10.0
#: Statuses of a server that cannot accept the request now: they are no evidence about the model.
_REFUSALS = (429, 503)


@dataclass(frozen=True, slots=True)
class Copied:
    """Copy of a request with the outputs and the seconds of the prediction that the client has."""

    path: str
    body: bytes
    outputs: Sequence[InputTensor]
    seconds: float


class Shadow:
    """Sender of copies. The metrics count the result of each by the version of the other server."""

    def __init__(self, url: str, authority: str, tolerance: Tolerance, metrics: ServerMetrics) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "localhost", parts.port
        self._context = ssl.create_default_context(cafile=authority or None) if parts.scheme == "https" else None
        self._tolerance, self._metrics = tolerance, metrics
        self._queue: Queue[Copied] = Queue(_QUEUED)
        self._lock, self._bytes = Lock(), 0
        self._connection: http.client.HTTPConnection | None = None
        #: Version that answers at this connection; empty for a new one.
        self._version = ""
        Thread(target=self._send_all, name="shadow", daemon=True).start()

    def copy(self, copied: Copied) -> None:
        """Queue a copy; drop it if the queue is full, by number or by bytes."""
        size = len(copied.body)
        with self._lock:
            has_room = self._bytes + size <= _QUEUED_BYTES
            self._bytes += size if has_room else 0
        try:
            if has_room:
                self._queue.put_nowait(copied)
                return
        except Full:
            self._leave(size)
        self._metrics.shadowed(self._version, "dropped")

    def _send_all(self) -> None:
        while True:
            copied = self._queue.get()
            self._leave(len(copied.body))
            try:
                self._one(copied)
            except Exception as error:  # noqa: BLE001 - the thread must not end, and a message may contain values of a request
                self._metrics.shadowed(self._version, "failed")
                self._close()
                print(f"shadow: {type(error).__name__}", flush=True)

    def _one(self, copied: Copied) -> None:
        is_kept = self._connection is not None
        try:
            status, answer, seconds = self._send(copied)
        except ConnectionRefusedError:
            # The other slot is empty, or its server starts.
            self._close()
            self._metrics.shadowed("", "absent")
            return
        except (OSError, http.client.HTTPException):
            if not is_kept:
                self._metrics.shadowed(self._version, "failed")
            self._close()
            if is_kept:
                # The server may have closed an idle connection.
                self._one(copied)
            return
        if status != http.client.OK:
            self._metrics.shadowed(self._version, "refused" if status in _REFUSALS else "failed")
            return
        result = compared(copied.outputs, answer, self._tolerance, randrange)
        self._metrics.shadowed(self._version, "agreed" if result.agreed else "differed")
        self._metrics.shadow_distances(self._version, result.differences, copied.seconds, seconds)

    def _send(self, copied: Copied) -> tuple[int, bytes, float]:
        """Return status, body and seconds of the answer."""
        if self._connection is None:
            self._connection = self._connect()
        headers = {"Content-Type": "application/json", SHADOW_HEADER: "1"}
        self._connection.request("POST", copied.path, copied.body, headers)
        answered = self._connection.getresponse()
        body = answered.read()
        self._version = answered.headers.get(VERSION_HEADER) or self._version
        return answered.status, body, _seconds(answered.headers.get(SECONDS_HEADER, ""))

    def _connect(self) -> http.client.HTTPConnection:
        if self._context is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=_SECONDS, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._version = None, ""

    def _leave(self, size: int) -> None:
        with self._lock:
            self._bytes -= size


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0
