"""Listening sockets in this process's network namespace or in another, given by name."""

import ctypes
import os
import socket
import threading
from pathlib import Path

CLONE_NEWNET = 0x40000000
NAMESPACES = Path("/run/netns")


class ListenError(Exception):
    """Error of an address that cannot be bound; the message names the address and the fix."""


def parse(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise ListenError(f"'{address}' is not ADDRESS:PORT")
    return host, int(port)


def listen(address: str, namespace: str | None = None) -> socket.socket:
    """Return a listening TCP socket on `address` (ADDRESS:PORT, port 0: any free port). Raise ListenError."""
    host, port = parse(address)
    if namespace is None:
        return _listen(host, port, address)
    result: list[socket.socket | Exception] = []

    def inside() -> None:
        # setns moves one thread only; the thread ends here, the socket stays in the namespace.
        try:
            _enter(namespace)
            result.append(_listen(host, port, f"{address} in namespace {namespace}"))
        except Exception as error:  # noqa: BLE001  handed to the caller's thread
            result.append(error)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    if isinstance(result[0], Exception):
        raise result[0]
    return result[0]


def _enter(namespace: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        descriptor = os.open(NAMESPACES / namespace, os.O_RDONLY)
    except OSError as error:
        raise ListenError(f"no network namespace '{namespace}' ({error.strerror}); is the lab up?") from error
    try:
        if libc.setns(descriptor, CLONE_NEWNET):
            reason = os.strerror(ctypes.get_errno())
            raise ListenError(f"cannot enter network namespace '{namespace}': {reason}")
    finally:
        os.close(descriptor)


def _listen(host: str, port: int, shown: str) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        advice = (
            "another program listens there: end it or choose another port" if error.errno == 98 else "check the address"
        )
        raise ListenError(f"cannot listen on {shown}: {error.strerror} ({advice})") from error
    return sock
