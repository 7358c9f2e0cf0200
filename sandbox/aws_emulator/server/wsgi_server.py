"""WSGI server on a socket that is already open."""

import socket
import threading
from collections.abc import Callable
from typing import Any

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server


class _Quiet:
    """Request handler without a log line per request: the control endpoint counts requests."""

    def log_request(self, *arguments: Any, **named: Any) -> None:
        pass


class ApiHandler(_Quiet, MotoRequestHandler):
    def connection_dropped(self, error: BaseException, environ: Any = None) -> None:
        """Close the connection: a client that keeps it open would wait for the answer that a fault suppressed."""
        self.close_connection = True


class MetadataHandler(_Quiet, WSGIRequestHandler):
    pass


def serve(application: Callable[..., Any], sock: socket.socket, handler: type[WSGIRequestHandler]) -> BaseWSGIServer:
    """Serve on `sock` in background threads until `shutdown()` of the server has returned."""
    host, port = sock.getsockname()[:2]
    server = make_server(host, port, application, threaded=True, request_handler=handler, fd=sock.fileno())
    sock.close()  # the server has its own copy
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True)
    thread.start()
    return server
