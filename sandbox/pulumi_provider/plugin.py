"""Life cycle of a plugin of Pulumi's engine: print the port, serve until Cancel, end with the engine."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

WORKERS = 16
#: A program that starts a plugin reads one line; nothing else may be on standard output before it.
Register = Callable[[Any, grpc.Server], None]


def serve(servicer: Any, register: Register, stopped: threading.Event, parent: int) -> None:
    """Serve until `stopped` is set or the process `parent`, which started this one, is gone."""
    # The engine interrupts its whole process group at the end of a run; the plugin ends by Cancel instead.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = grpc.server(ThreadPoolExecutor(WORKERS), options=[("grpc.max_receive_message_length", -1)])
    register(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    threading.Thread(target=_watch_parent, args=(stopped, parent), daemon=True).start()
    stopped.wait()
    server.stop(grace=2).wait(4)
    sys.stdout.flush()
    os._exit(0)  # gRPC's threads may still hold the interpreter


def _watch_parent(stopped: threading.Event, parent: int) -> None:
    # A killed engine sends no Cancel, and no other process ends its plugins.
    while not stopped.wait(2):
        if os.getppid() != parent:
            stopped.set()
