"""Two HTTP servers with the metrics of model servers, whose counters the tests set."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class ServedVersion:
    """Server of a version: its counters, and whether it is ready."""

    version: str
    requests: int = 0
    failed: int = 0
    slow: int = 0
    low: int = 0
    ready: bool = True
    port: int = 0

    @property
    def url(self) -> str:
        """URL of its metrics."""
        return f"http://127.0.0.1:{self.port}/metrics"

    def text(self) -> str:
        """Return its metrics."""
        labels = f'service="digits",model="digits",version="{self.version}"'
        return f"""# TYPE landbridge_model_ready gauge
landbridge_model_ready{{{labels}}} {int(self.ready)}
# TYPE landbridge_model_requests_total counter
landbridge_model_requests_total{{{labels},status="200"}} {self.requests - self.failed}
landbridge_model_requests_total{{{labels},status="500"}} {self.failed}
# TYPE landbridge_model_latency_seconds histogram
landbridge_model_latency_seconds_bucket{{{labels},le="0.025"}} {self.requests - self.slow}
landbridge_model_latency_seconds_bucket{{{labels},le="0.05"}} {self.requests - self.slow}
landbridge_model_latency_seconds_bucket{{{labels},le="+Inf"}} {self.requests}
landbridge_model_latency_seconds_sum{{{labels}}} 1.5
landbridge_model_latency_seconds_count{{{labels}}} {self.requests}
# TYPE landbridge_model_confidence histogram
landbridge_model_confidence_bucket{{{labels},le="0.5"}} {self.low}
landbridge_model_confidence_bucket{{{labels},le="1.0"}} {self.requests}
landbridge_model_confidence_bucket{{{labels},le="+Inf"}} {self.requests}
"""


@dataclass
class ServedPair:
    """Champion and candidate."""

    champion: ServedVersion = field(default_factory=lambda: ServedVersion("1"))
    candidate: ServedVersion = field(default_factory=lambda: ServedVersion("2"))


@contextmanager
def served() -> Iterator[ServedPair]:
    """Serve the metrics of both versions on loopback."""
    pair, servers = ServedPair(), []
    for each in (pair.champion, pair.candidate):

        class Handler(BaseHTTPRequestHandler):
            version = each

            def do_GET(self) -> None:
                body = self.version.text().encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        each.port = server.server_port
        Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
    try:
        yield pair
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
