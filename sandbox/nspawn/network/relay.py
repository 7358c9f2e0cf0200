"""Relay from the lab to the host: serves the package cache and the wheelhouse at the operator's addresses.

The lab has no route to the host; this process is their only connection. It listens on sockets of the lab's namespace
and connects outside of it only to the package cache on loopback; it serves the wheelhouse itself, from files.
Run as a program: relay.py LAB STATE WHEELHOUSE CACHE_PORT ADDRESS...; ends with the lab's namespace or on SIGTERM.
"""

import asyncio
import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sandbox.nspawn.host import processes
from sandbox.nspawn.network import netns

CACHE_PORT = 3142
WHEELS_PORT = 3143
_CHUNK = 1 << 16


def listener(namespace: str, address: str, port: int) -> socket.socket:
    """Return a listening socket at an address of the lab. Exit if it cannot be bound."""
    sock = netns.socket_in(namespace, socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((address, port))
    except OSError as error:
        sys.exit(f"cannot listen on {address}:{port} in namespace {namespace}: {error.strerror}")
    sock.listen(64)
    return sock


class _Files(SimpleHTTPRequestHandler):
    """HTTP handler of the wheelhouse: a directory listing, which pip and uv read with --find-links."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        return


class _FileServer(ThreadingHTTPServer):
    """HTTP file server on a bound socket."""

    daemon_threads = True

    def __init__(self, sock: socket.socket, folder: Path) -> None:
        super().__init__(sock.getsockname(), partial(_Files, directory=str(folder)), bind_and_activate=False)
        self.socket.close()
        self.socket = sock


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()


async def _forward(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.close()
        return
    try:
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
    finally:
        far_writer.close()
        writer.close()


async def _serve(namespace: str, sockets: list[socket.socket], port: int) -> None:
    servers = [await asyncio.start_server(partial(_forward, port), sock=sock) for sock in sockets]
    # The inode identifies this namespace, not one of the same name that a later lab creates.
    identity = netns.identity(namespace)
    while netns.identity(namespace) == identity:
        await asyncio.sleep(2)
    for server in servers:
        server.close()


def main(namespace: str, state: str, wheelhouse: str, cache_port: str, *addresses: str) -> None:
    for address in addresses:
        server = _FileServer(listener(namespace, address, WHEELS_PORT), Path(wheelhouse))
        threading.Thread(target=server.serve_forever, daemon=True).start()
    sockets = [listener(namespace, address, CACHE_PORT) for address in addresses]
    processes.write_pid_file(Path(state) / "relay.pid", os.getpid())
    print("ready", flush=True)
    asyncio.run(_serve(namespace, sockets, int(cache_port)))


if __name__ == "__main__":
    main(*sys.argv[1:])
