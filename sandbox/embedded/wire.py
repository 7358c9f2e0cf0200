"""Unix socket of the simulated Slurm, for queries of its commands and registrations of its nodes."""

import contextlib
import hashlib
import json
import os
import socketserver
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.embedded.commands import Commands


def socket_path(directory: Path, name: str = "slurm") -> Path:
    """Return the socket path of the simulated Slurm (or the burst daemon) in `directory`, also before it has started."""
    path = directory.absolute() / f"{name}.sock"
    # The path of a unix socket has at most 107 characters.
    return (
        path
        if len(str(path)) < 100
        else Path(tempfile.gettempdir()) / f"{name}-{hashlib.sha256(str(path).encode()).hexdigest()[:16]}.sock"
    )


class Server(socketserver.ThreadingUnixStreamServer):
    """Socket server: answers the stand-in commands, and holds the connections of nodes."""

    daemon_threads = True

    def __init__(self, path: str, slurm: Any) -> None:
        self.slurm, self.commands = slurm, Commands(slurm)
        super().__init__(path, Handler)
        os.chmod(path, 0o600)


class Handler(socketserver.StreamRequestHandler):
    """Connection handler: for one command, or for one node until it ends."""

    server: Server

    def handle(self) -> None:
        line = self.rfile.readline()
        request = json.loads(line) if line else {}
        if "command" in request:
            with self.server.slurm.lock:
                answer = self.server.commands.answer(request["command"], request["arguments"])
            self.wfile.write(json.dumps(answer).encode() + b"\n")
        elif request.get("register") in self.server.slurm.nodes:
            self._hold_node(request)

    def _hold_node(self, request: Mapping[str, str]) -> None:
        slurm, node = self.server.slurm, self.server.slurm.nodes[request["register"]]
        with slurm.lock:
            slurm.registered(node, request["address"], request["instance"])
        with contextlib.suppress(OSError):
            self.rfile.read()  # returns when the node has closed the connection
        with slurm.lock:
            if node.instance == request["instance"]:
                slurm.lost(node)
