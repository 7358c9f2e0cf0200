"""Client of the prefork server: the engine starts this process, and a fork of the server runs the plugin.

It sends its open files to the plugin, and waits. When one process ends, the other ends too. It imports only modules
that load fast.
"""

import json
import os
import signal
import socket
import sys

#: Environment variable with the path of the server's socket.
SOCKET_VARIABLE = "LANDBRIDGE_PREFORK"
_CHECK_SECONDS = 2


def run_in_server(module: str, parent: int) -> bool:
    """Let the server run the plugin `module` until it or the process `parent` ends; return False without a server."""
    path = os.environ.get(SOCKET_VARIABLE)
    if not path:
        return False
    request = {"module": module, "arguments": sys.argv, "folder": os.getcwd(), "variables": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        try:
            server.connect(path)
        except OSError:
            return False
        # The engine interrupts its whole process group at the end of a run; the plugin ends by Cancel instead.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        text = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(server, [text], [0, 1, 2])
        server.sendall(text[sent:])
        server.settimeout(_CHECK_SECONDS)
        while os.getppid() == parent:
            try:
                if not server.recv(1):
                    break
            except TimeoutError:
                continue
    return True
