"""Reader of a throughput sample, run on two hosts by `python3 -`: one receives, the other sends over several connections.

It needs only Python's standard library and no rights. Bytes and time are bounded: it ends by itself, also without its peer.
Its argument is the request, its output the facts, both JSON (the request in base64).
"""

import base64
import json
import os
import selectors
import socket
import sys
import time
from typing import Any

_BLOCK = 1 << 18


def receive(request: dict[str, Any]) -> dict[str, Any]:
    """Return the bytes that came over all connections, and the seconds from the first to the last of them."""
    streams = selectors.DefaultSelector()
    count, first, last, opened, closed = 0, 0.0, 0.0, 0, 0
    end = time.monotonic() + request["wait"]
    with socket.create_server((request["address"], request["port"]), backlog=request["connections"]) as server:
        streams.register(server, selectors.EVENT_READ)
        while closed < request["connections"] and time.monotonic() < end:
            for key, _ in streams.select(end - time.monotonic()):
                if key.fileobj is server:
                    stream, _ = server.accept()
                    streams.register(stream, selectors.EVENT_READ)
                    opened += 1
                    if opened == 1:
                        end = time.monotonic() + 2 * request["seconds"]
                    continue
                assert isinstance(key.fileobj, socket.socket)
                size = len(key.fileobj.recv(_BLOCK))
                if size == 0:
                    streams.unregister(key.fileobj)
                    key.fileobj.close()
                    closed += 1
                    continue
                last = time.monotonic()
                first, count = first or last, count + size
    return {"bytes": count, "seconds": round(last - first, 6), "connections": opened}


def send(request: dict[str, Any]) -> dict[str, Any]:
    """Return the bytes that were sent. The receiver may begin to listen a little later than the sender."""
    end = time.monotonic() + request["wait"]
    streams = [_connect(request, end) for _ in range(request["connections"])]
    choice = selectors.DefaultSelector()
    for stream in streams:
        stream.setblocking(False)
        choice.register(stream, selectors.EVENT_WRITE)
    block, count, end = os.urandom(_BLOCK), 0, time.monotonic() + request["seconds"]
    while count < request["bytes"] and time.monotonic() < end:
        for key, _ in choice.select(0.1):
            assert isinstance(key.fileobj, socket.socket)
            count += key.fileobj.send(block)
    for stream in streams:
        stream.close()
    return {"bytes": count}


def _connect(request: dict[str, Any], end: float) -> socket.socket:
    while True:
        try:
            return socket.create_connection((request["address"], request["port"]), max(0.1, end - time.monotonic()))
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def facts(request: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of one end; `error` is set without a sample."""
    try:
        done = receive(request) if request["end"] == "receive" else send(request)
    except OSError as error:
        done = {"error": error.strerror or str(error) or type(error).__name__}
    return {**done, "time": time.time()}


if __name__ == "__main__":
    json.dump(facts(json.loads(base64.b64decode(sys.argv[1]))), sys.stdout)
