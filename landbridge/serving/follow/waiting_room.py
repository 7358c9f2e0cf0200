"""Waiting rooms of services without a running model server: HAProxy's last server, which keeps a request until one runs.

A room reads no request. When a model server runs it answers 503, on which HAProxy repeats a request that its buffer has to that server; a
longer one gets the 503 with Retry-After. After LONGEST_SECONDS the answer is 504, which HAProxy does not repeat.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from landbridge.serving.canary_controller.runtime_socket import GatewayError, serving_servers
from landbridge.serving.follow.config import FollowConfig, FollowedService, read_orders

#: Longest wait: Landbridge's choice, less than HAProxy's `timeout server`.
LONGEST_SECONDS = 50.0
#: Seconds between two polls of HAProxy while requests wait. Landbridge's choice.
_LOOK_SECONDS = 0.1
_AGAIN = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_LATE = b"HTTP/1.1 504 Gateway Timeout\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def room_socket(export: Path, service: str) -> Path:
    """Return the socket of a service's room, beside the export's socket."""
    return export.parent / f"wait-{service}.sock"


@dataclass
class WaitingRoom:
    """Room of a service. `longest`: the longest wait in seconds."""

    config: FollowConfig
    service: FollowedService
    log: Callable[[str], None]
    mode: int = 0o660
    longest: float = LONGEST_SECONDS
    _waiting: int = 0
    _begun: float = 0.0
    _open: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self) -> None:
        """Serve until it is cancelled."""
        path = room_socket(self.config.export, self.service.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._keep, str(path))
        path.chmod(self.mode)
        async with server:
            while True:
                await asyncio.sleep(_LOOK_SECONDS)
                if self._waiting and await asyncio.to_thread(self._may_leave):
                    self.log(
                        f"{self.service.name}: {self._waiting} requests waited up to {time.monotonic() - self._begun:.1f} s"
                    )
                    self._open.set()
                    self._open = asyncio.Event()
                    self._begun = time.monotonic()

    async def _keep(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._waiting:
            self._begun = time.monotonic()
        self._waiting += 1
        drop = asyncio.create_task(_drop(reader))
        try:
            async with asyncio.timeout(self.longest):
                await self._open.wait()
            answer = _AGAIN
        except TimeoutError:
            answer = _LATE
        finally:
            self._waiting -= 1
        with contextlib.suppress(OSError):
            writer.write(answer)
            await writer.drain()
        drop.cancel()
        writer.close()

    def _may_leave(self) -> bool:
        """Return whether a model server gets requests, or the operator has stopped the service."""
        if read_orders(self.config.orders).get(self.service.name) == 0:
            return True
        try:
            servers = serving_servers(self.config.socket, self.service.backend)
        except GatewayError:
            return False
        return any(server.name in servers for server in self.service.servers)


def open_rooms(config: FollowConfig, log: Callable[[str], None], mode: int = 0o660) -> None:
    """Serve the rooms of the services with a scale, in a thread that ends with the process."""
    rooms = [WaitingRoom(config, service, log, mode) for service in config.services if service.scale is not None]

    async def serve() -> None:
        await asyncio.gather(*(room.serve() for room in rooms))

    if rooms:
        Thread(target=asyncio.run, args=(serve(),), daemon=True).start()


async def _drop(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(65_536):
            pass
