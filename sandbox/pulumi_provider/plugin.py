"""Plugin process of Pulumi's engine: it prints its port, serves until Cancel, and ends with the engine."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

WORKERS = 16
#: Function that registers a servicer with a gRPC server.
Register = Callable[[Any, grpc.Server], None]


def serve(servicer: Any, register: Register, stopped: threading.Event, parent: int) -> None:
    """Serve until `stopped` is set or the process `parent`, which started this one, has ended."""
    # The engine interrupts its whole process group at the end of a run; the plugin ends by Cancel instead.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = grpc.server(ThreadPoolExecutor(WORKERS), options=[("grpc.max_receive_message_length", -1)])
    register(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # the engine reads the first line of standard output
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
