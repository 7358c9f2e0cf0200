"""MLflow's own application on loopback, with SQLite and its artifacts through it: `python registry_server.py FOLDER`.

It prints its URI. It ends with its standard input.
"""

import os
import sys
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


class Threads(ThreadingMixIn, WSGIServer):
    """Server with a thread for each request."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Handler of requests without a log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def main(folder: str) -> None:
    """Serve until standard input ends."""
    os.environ |= {
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{folder}/mlflow.db",
        "_MLFLOW_SERVER_ARTIFACT_ROOT": "mlflow-artifacts:/",
        "_MLFLOW_SERVER_ARTIFACT_DESTINATION": f"{folder}/artifacts",
        "_MLFLOW_SERVER_SERVE_ARTIFACTS": "true",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    from mlflow.server import app

    with make_server("127.0.0.1", 0, app, Threads, Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
