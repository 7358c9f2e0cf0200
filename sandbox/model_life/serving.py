"""Serving of the demonstration: a model server in each slot, and HAProxy before them with the product's configuration."""

import hashlib
import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.plan.serving.haproxy import (
    GatewayServer,
    GatewayService,
    GatewaySettings,
    backend,
    haproxy_configuration,
)
from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.canary_controller.gateway import HaproxyShares
from landbridge.serving.canary_controller.guard_counters import is_ready
from landbridge.serving.canary_controller.looks import read_samples
from landbridge.serving.canary_controller.runtime_socket import running_servers
from sandbox.demo.report import DemoError
from sandbox.model_life.haproxy_program import haproxy_program
from sandbox.model_life.registry import MODEL, SignedRegistry
from sandbox.ports import free_port

SLOTS = ("a", "b")
_READY_SECONDS = 60.0


@dataclass
class LoopbackServing:
    """Two slots and the gateway, all on loopback. `port` and `token` are those of a client."""

    folder: Path
    site: SignedRegistry
    port: int
    token: str
    ports: dict[str, int]
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def settings(self, name: str, model: Path, port: int = 0) -> Path:
        """Write the settings of a model server, and return their file."""
        path = self.folder / f"{name}.json"
        content = {"service": MODEL, "model": MODEL, "folder": str(model), "trust": str(self.site.authority)}
        content |= {"certificate": str(self.site.certificate), "authority": str(self.site.authority)}
        path.write_text(
            json.dumps({**content, "listen": "127.0.0.1", "port": port, "drain_seconds": 1.0, "data_class": "internal"})
        )
        return path

    def start(self, slot: str, model: Path) -> None:
        """Start a model folder in a slot instead of the present one, and wait until HAProxy sends requests to it."""
        self.stop(slot)
        with (self.folder / f"{slot}.log").open("ab") as log:
            self.processes[slot] = subprocess.Popen(
                server_command(self.settings(slot, model, self.ports[slot])), stdout=log, stderr=log
            )
        deadline = time.monotonic() + _READY_SECONDS
        while self.metrics(slot) is None or f"{slot}-srv01" not in self.running():
            if self.processes[slot].poll() is not None or time.monotonic() > deadline:
                raise DemoError(f"the model server of slot {slot} is not ready: {self.folder / f'{slot}.log'}")
            time.sleep(0.1)

    def running(self) -> frozenset[str]:
        """Return the servers that HAProxy uses."""
        return running_servers(self.folder / "haproxy.sock", backend(MODEL))

    def stop(self, slot: str, *, is_crash: bool = False) -> None:
        """End the server of a slot, at once if it is a crash."""
        process = self.processes.pop(slot, None)
        if process is not None:
            process.kill() if is_crash else process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def url(self, slot: str) -> str:
        """Return the URL of a slot's metrics."""
        return f"https://localhost:{self.ports[slot]}/metrics"

    def metrics(self, slot: str) -> tuple[MetricSample, ...] | None:
        """Return the metrics of a slot; None without an answer."""
        return read_samples(self.url(slot), str(self.site.authority))

    def shares(
        self, samples: dict[str, tuple[MetricSample, ...] | None], champion: str, candidate: str
    ) -> HaproxyShares:
        """Return the weights of the gateway for the servers that are ready."""
        answered = {f"{slot}-srv01": read for slot, read in samples.items() if read is not None}
        return HaproxyShares(
            self.folder / "haproxy.sock",
            backend(MODEL),
            tuple(name for name, read in answered.items() if is_ready(read, champion)),
            tuple(name for name, read in answered.items() if is_ready(read, candidate)),
            tuple(f"{slot}-srv01" for slot in SLOTS),
            self.folder / "haproxy.state",
        )


def server_command(settings: Path, *words: str) -> list[str]:
    """Return the command line of the model server."""
    return [sys.executable, "-m", "landbridge.serving.server.service", "--config", str(settings), *words]


@contextmanager
def loopback_serving(folder: Path, site: SignedRegistry) -> Iterator[LoopbackServing]:
    """Run HAProxy, and end it and both slots afterwards."""
    serving = LoopbackServing(folder, site, free_port(), secrets.token_hex(16), {slot: free_port() for slot in SLOTS})
    program, environment = haproxy_program()
    callers, configuration, log = folder / "callers.map", folder / "haproxy.cfg", folder / "haproxy.log"
    callers.write_text(f"{hashlib.sha256(serving.token.encode()).hexdigest()} client\n")
    (folder / "haproxy.state").touch()
    configuration.write_text(haproxy_configuration(_settings(serving, callers)))
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(program), "-db", "-f", str(configuration)], stdout=output, stderr=output, env=environment
        )
    try:
        deadline = time.monotonic() + _READY_SECONDS
        while not _accepts(serving.port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise DemoError(f"HAProxy does not start: {log.read_text(errors='replace')[-500:]}")
            time.sleep(0.1)
        # Until its first check a server counts as one that answers.
        while serving.running():
            if time.monotonic() > deadline:
                raise DemoError("HAProxy sends requests to servers that do not run")
            time.sleep(0.1)
        yield serving
    finally:
        for slot in SLOTS:
            serving.stop(slot, is_crash=True)
        process.kill()
        process.wait()


def _settings(serving: LoopbackServing, callers: Path) -> GatewaySettings:
    servers = tuple(
        GatewayServer(f"{slot}-srv01", slot, "localhost", "127.0.0.1", port) for slot, port in serving.ports.items()
    )
    path = f"/v2/models/{MODEL}"
    service = GatewayService(MODEL, path, ("client",), 64, 65_536, 0, servers, health=f"{path}/ready")
    return GatewaySettings(
        "127.0.0.1",
        serving.port,
        str(serving.site.certificate),
        str(serving.site.authority),
        str(callers),
        str(serving.folder / "haproxy.sock"),
        str(serving.folder / "haproxy.state"),
        account="",
        # A busy machine answers a check late.
        check_milliseconds=1000,
        services=(service,),
    )


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
