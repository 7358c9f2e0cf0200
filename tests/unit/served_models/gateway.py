"""Model gateway for tests: the rendered configuration in a real HAProxy, and a client that sends requests without pause."""

import asyncio
import hashlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from landbridge.plan.serving.haproxy import GatewayServer, GatewayService, GatewaySettings, haproxy_configuration
from sandbox.model_life.haproxy_program import haproxy_program
from tests.unit.served_models.processes import BODY

TOKEN, STRANGER = "token-of-research", "token-of-another-account"
PROGRAM = Path(__file__).parents[3] / "ansible/roles/model_gateway/files/landbridge-model-gateway"


@dataclass
class Load:
    """Result of a load: answers by status and by version; errors of connections have the status 0."""

    statuses: Counter[int] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


@dataclass
class Gateway:
    """HAProxy at a port of the loopback."""

    folder: Path
    port: int
    settings: GatewaySettings
    process: "subprocess.Popen[bytes]"

    def kill(self) -> None:
        """End HAProxy as a lost host does: its processes at once, and every connection with them."""
        _kill(self.process)

    def program(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the role's program."""
        places = {
            "LANDBRIDGE_GATEWAY_SOCKET": self.settings.socket,
            "LANDBRIDGE_GATEWAY_STATE": self.settings.state_file,
        }
        line = [sys.executable, str(PROGRAM), *words]
        return subprocess.run(line, env={**os.environ, **places}, capture_output=True, text=True)

    def servers(self) -> dict[str, dict[str, Any]]:
        """Return the servers by name."""
        done = self.program("list")
        assert done.returncode == 0, done.stderr
        return {row["server"]: row for row in json.loads(done.stdout)["servers"]}

    def wait(self, **states: str) -> None:
        """Wait until servers (with _ for -) have these states."""
        deadline = time.monotonic() + 60
        wanted = {name.replace("_", "-"): state for name, state in states.items()}
        # At the start, a gateway of the former test that ends may answer at the same socket.
        while any(not self._state(name).startswith(state) for name, state in wanted.items()):
            assert time.monotonic() < deadline, f"{self.servers()} instead of {wanted}"
            time.sleep(0.05)

    def _state(self, name: str) -> str:
        return str(self.servers().get(name, {"state": "absent"})["state"])

    def get(self, method: str, path: str, body: str = "", token: str = TOKEN) -> int:
        """Return the status of one request."""
        return asyncio.run(_once(self, method, path, body, token))

    def load(self, requests: int, clients: int = 8) -> Load:
        """Send requests one after the other by each client."""
        return asyncio.run(self.loading(requests, clients))

    async def loading(self, requests: int, clients: int = 8, other: "Gateway | None" = None) -> Load:
        """Send requests one after the other by each client. After a lost connection a client goes on at the other gateway of a
        pair, which has the shared address then.
        """
        result = Load()
        remaining = iter(range(requests))
        await asyncio.gather(*(_client([self, other or self], remaining, result) for _ in range(clients)))
        return result


@contextmanager
def gateway(
    folder: Path,
    authority: Path,
    certificate: Path,
    ports: dict[str, Sequence[int]],
    places: Mapping[str, str] | None = None,
    **changes: Any,
) -> Iterator[Gateway]:
    """Yield HAProxy before model servers: `ports` by slot; `places`: changes of its settings, `changes` of the service's."""
    servers = tuple(
        GatewayServer(f"{slot}-srv{number:02}", slot, "localhost", "127.0.0.1", port)
        for slot, of_slot in ports.items()
        for number, port in enumerate(of_slot, 1)
    )
    (folder / "callers.map").write_text(
        f"{hashlib.sha256(TOKEN.encode()).hexdigest()} research\n{hashlib.sha256(STRANGER.encode()).hexdigest()} other\n"
    )
    (folder / "haproxy.state").write_text("")
    service = GatewayService(
        "digits", "/v2/models/digits", ("research",), 64, 4096, 0, servers, health="/v2/models/digits/ready"
    )
    settings = GatewaySettings(
        listen="127.0.0.1",
        port=_free_port(),
        certificate=str(certificate),
        authority=str(authority),
        callers=str(folder / "callers.map"),
        socket=str(folder / "haproxy.sock"),
        state_file=str(folder / "haproxy.state"),
        account="",
        check_milliseconds=200,
        services=(replace(service, **changes),),
    )
    settings = replace(settings, **(places or {}))
    configuration, log = folder / "haproxy.cfg", folder / "haproxy.log"
    configuration.write_text(haproxy_configuration(settings))
    program, environment = haproxy_program()
    with log.open("w") as output:
        line = [str(program), "-W", "-f", str(configuration)]
        process = subprocess.Popen(line, stdout=output, stderr=subprocess.STDOUT, env=environment)
    try:
        started = Gateway(folder, settings.port, settings, process)
        deadline = time.monotonic() + 30
        while started.program("list").returncode != 0:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield started
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the master and its workers, which would go on alone."""
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in (process.pid, *map(int, workers)):
        os.kill(pid, signal.SIGKILL)
    process.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _client(targets: Sequence[Gateway], remaining: Iterator[int], result: Load) -> None:
    reader = writer = None
    target, other = targets
    for _ in remaining:
        began = time.monotonic()
        try:
            if writer is None:
                reader, writer = await _connect(target)
            assert reader is not None
            status, headers = await _exchange(reader, writer, "POST", "/v2/models/digits/infer", BODY, TOKEN)
            result.statuses[status] += 1
            result.versions[headers.get("landbridge-model-version", "")] += 1
            result.seconds.append(time.monotonic() - began)
            if headers.get("connection", "") == "close":
                writer.close()
                reader = writer = None
        except (OSError, EOFError):
            result.statuses[0] += 1
            reader = writer = None
            target, other = other, target
    if writer is not None:
        writer.close()


async def _once(target: Gateway, method: str, path: str, body: str, token: str) -> int:
    reader, writer = await _connect(target)
    try:
        return (await _exchange(reader, writer, method, path, body, token))[0]
    finally:
        writer.close()


async def _connect(target: Gateway) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = ssl.create_default_context(cafile=target.settings.authority)
    context.set_alpn_protocols(["http/1.1"])
    return await asyncio.open_connection("127.0.0.1", target.port, ssl=context, server_hostname="localhost")


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: str, token: str
) -> tuple[int, dict[str, str]]:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    writer.write(f"{head}\r\n{body}".encode())
    await writer.drain()
    lines = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:]) if name}
    await reader.readexactly(int(headers.get("content-length", "0")))
    return int(lines[0].split()[1]), headers
