"""HTTP of a model server: the paths of the Open Inference protocol, and `/metrics`.

Python's own server with one thread a connection: a prediction releases the interpreter's lock in ONNX Runtime, and the only client is
HAProxy, which parses and limits every request first. Source: KServe, "Open Inference Protocol (V2)", HTTP/REST.
"""

import json
import socket
import ssl
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any

from landbridge import timestamps
from landbridge.serving.server.compare import Tolerance
from landbridge.serving.server.config import ModelServerConfig
from landbridge.serving.server.predictor import Predictor, Reply
from landbridge.serving.server.protocol import metadata
from landbridge.serving.server.shadow import SECONDS_HEADER, SHADOW_HEADER, VERSION_HEADER, Copied, Shadow

#: Header in which the gateway writes the account of the client.
CLIENT_HEADER = "X-Landbridge-Client"
#: A connection without a request ends after this time, longer than the gateway keeps one (60 s).
_IDLE_SECONDS = 90.0
_CONNECTIONS = 512


class ModelHttpServer(ThreadingHTTPServer):
    """Server of one predictor."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, config: ModelServerConfig, predictor: Predictor) -> None:
        """Bind to the address. Raises OSError, and ssl.SSLError for a certificate that cannot be used."""
        self.config, self.predictor = config, predictor
        self._context = _context(config.certificate)
        tolerance = Tolerance(config.shadow_absolute, config.shadow_relative, is_class=config.shadow_relative == 0)
        self.shadow = Shadow(config.shadow, config.authority, tolerance, predictor.metrics) if config.shadow else None
        self._connections = BoundedSemaphore(_CONNECTIONS)
        super().__init__((config.listen, config.port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for a connection; close the connection if there are too many."""
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Make the TLS handshake in the connection's thread, and answer its requests."""
        request.settimeout(_IDLE_SECONDS)
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._context is None:
            super().finish_request(request, client_address)
            return
        with suppress(OSError), self._context.wrap_socket(request, server_side=True) as encrypted:
            super().finish_request(encrypted, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a connection that ended in an error, in one line."""
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"connection of {client_address[0]}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "landbridge", ""
    server: ModelHttpServer

    def do_GET(self) -> None:
        """Answer health, metadata and metrics."""
        predictor, manifest = self.server.predictor, self.server.predictor.manifest
        model = f"/v2/models/{manifest.name}"
        if self._is_refused():
            return
        if self.path in ("/v2/health/ready", f"{model}/ready", f"{model}/versions/{manifest.version}/ready"):
            # 404 while draining: HAProxy then sends no new requests, at once. Source: HAProxy 3.0, "http-check disable-on-404".
            self._send(Reply(200 if predictor.readiness() else 404, b""))
        elif self.path == "/v2/health/live":
            self._send(Reply(200, b""))
        elif self.path in (model, f"{model}/versions/{manifest.version}"):
            self._json(200, metadata(manifest.name, manifest.version, manifest.inputs, manifest.outputs))
        elif self.path == "/v2":
            self._json(200, {"name": "landbridge", "version": "2", "extensions": []})
        elif self.path == "/metrics":
            self._send(Reply(200, predictor.metrics.text().encode()), "text/plain; version=0.0.4")
        else:
            self._json(404, {"error": "no such path"})

    def do_POST(self) -> None:
        """Answer a prediction."""
        if self._is_refused():
            return
        predictor, began = self.server.predictor, time.monotonic()
        client = (self.headers.get(CLIENT_HEADER) or self.client_address[0])[:64]
        predictor.enter()
        size, copied = 0, b""
        reply = Reply(500, b"")
        try:
            reply, copied = self._predict(client)
            size = len(copied)
            self._send(reply)
        finally:
            predictor.leave()
            seconds = time.monotonic() - began
            if self._is_copy:
                predictor.metrics.copied(reply.status)
            else:
                predictor.metrics.request(reply.status, seconds)
            self._log_request(client, reply.status, size, len(reply.body), seconds)
        if reply.status == 200 and self.server.shadow is not None and not self._is_copy:
            # The other server has a path of its own version.
            path = f"/v2/models/{predictor.manifest.name}/infer"
            self.server.shadow.copy(Copied(path, copied, reply.outputs, reply.seconds))

    @property
    def _is_copy(self) -> bool:
        """Return whether a model server sent it for its shadow: the gateway removes this header from requests of clients."""
        return SHADOW_HEADER in self.headers

    def log_message(self, *_: Any) -> None:
        """Log nothing: predictions have a line of their own, without contents."""

    def _predict(self, client: str) -> tuple[Reply, bytes]:
        predictor, manifest = self.server.predictor, self.server.predictor.manifest
        model = f"/v2/models/{manifest.name}"
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            return _error(411, "Content-Length is missing"), b""
        if int(length) > self.server.config.max_request_bytes:
            self.close_connection = True
            return _error(413, f"more than {self.server.config.max_request_bytes} bytes"), b""
        body = self.rfile.read(int(length))
        if self.path not in (f"{model}/infer", f"{model}/versions/{manifest.version}/infer"):
            return _error(404, f"this server has {manifest.name} version {manifest.version}"), b""
        if not self._is_copy and not predictor.admits(client):
            return _error(429, "too many requests per second"), b""
        return predictor.predict(body, is_copy=self._is_copy), body

    def _is_refused(self) -> bool:
        """Return whether a request is refused: Prometheus' host, which has no token, may read the metrics only."""
        is_reading = self.command == "GET" and self.path == "/metrics"
        if is_reading or self.client_address[0] != self.server.config.metrics_client:
            return False
        self.close_connection = True
        self._send(_error(403, "this address may read the metrics only"))
        return True

    def _json(self, status: int, content: Any) -> None:
        self._send(Reply(status, json.dumps(content).encode()))

    def _send(self, reply: Reply, kind: str = "application/json") -> None:
        if not self.server.predictor.ready:
            self.close_connection = True
        self.send_response(reply.status)
        self.send_header(VERSION_HEADER, self.server.predictor.manifest.version)
        self.send_header("Content-Type", kind)
        if self._is_copy:
            self.send_header(SECONDS_HEADER, f"{reply.seconds:.6f}")
        self.send_header("Content-Length", str(len(reply.body)))
        if reply.status in (429, 503):
            self.send_header("Retry-After", "1")
        if self.close_connection:
            self.send_header("Connection", "close")
        # Headers and body in one write: an answer that has begun is complete, also if the process is killed.
        self._headers_buffer: list[bytes]
        self._headers_buffer += [b"\r\n", reply.body]
        self.flush_headers()

    def _log_request(self, client: str, status: int, received: int, sent: int, seconds: float) -> None:
        """Log who, when, size and latency, and no content."""
        line = {
            "at": timestamps.iso(time.time()),
            "client": client,
            "shadow": self._is_copy,
            "status": status,
            "bytes": received,
            "answer_bytes": sent,
            "ms": round(seconds * 1000, 1),
            "version": self.server.predictor.manifest.version,
        }
        print(json.dumps(line), flush=True)


def _error(status: int, reason: str) -> Reply:
    return Reply(status, json.dumps({"error": reason}).encode())


def _context(certificate: str) -> ssl.SSLContext | None:
    if not certificate:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate)
    return context
