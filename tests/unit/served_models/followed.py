"""Serving that follows a real registry: HAProxy, model servers in two slots of one host, and both services, on loopback."""

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any

import pytest

from landbridge.live.models.registry import ModelRegistry
from landbridge.plan.serving.haproxy import backend
from landbridge.serving.follow.config import FollowConfig, load_follow_config
from landbridge.serving.follow.export import ModelExport
from landbridge.serving.follow.passes import FollowPass
from landbridge.serving.follow.waiting_room import open_rooms
from landbridge.serving.host.config import load_host_config
from landbridge.serving.host.daemon import HostPass
from landbridge.serving.host.gateway_export import GatewayExport
from tests.unit.models.conftest import Operator
from tests.unit.served_models import slot_units
from tests.unit.served_models.folders import onnx_bytes, write_folder
from tests.unit.served_models.gateway import STRANGER, Gateway, Load, gateway
from tests.unit.served_models.site_ca import write_certificates

SECONDS = 90.0
#: More than the effects of a pass that promotes.
KILLS = 40
REFERENCE = {
    "schema": 1,
    "rows": 500,
    "features": {
        # The requests of the tests have 0.5 and 1.0 there: the first has the values of the reference, and the second has not.
        "x[0]": {"edges": [0.0, 1.0, 2.0], "counts": [0, 500, 0, 0]},
        "x[1]": {"edges": [0.0, 1.0, 2.0], "counts": [0, 0, 0, 500]},
    },
}


class KilledPass(BaseException):
    """End of the gateway's service between two effects."""


@dataclass
class FollowedSite:
    """Site: its registry, gateway and passes. `ahead`: seconds that the clock of the gateway's service is ahead."""

    folder: Path
    operator: Operator
    gateway: Gateway
    follow: FollowPass
    host: HostPass
    lines: list[str]
    load: Load = field(default_factory=Load)
    ahead: float = 0.0

    @property
    def config(self) -> FollowConfig:
        """Return the settings of the gateway's service."""
        return self.follow.config

    def publish(self, name: str, data: bytes | None = None) -> str:
        """Register and sign a version; return NAME/VERSION. Versions differ in their weights."""
        data = onnx_bytes(int(name) / 100) if data is None else data
        return self.operator.publish(write_folder(self.folder / name, "", data, reference=REFERENCE))

    def aliases(self) -> dict[str, str]:
        """Return the aliases of the registry."""
        return ModelRegistry(self.operator.uri).aliases("digits")

    def one_pass(self) -> None:
        """Run a pass of both services."""
        self.follow.run()
        self.host.run()

    def killed_pass(self, at: int) -> None:
        """Run a pass of a new process that is killed before its effect number `at`: a command, a request, or a file's name."""
        effects = 0

        def before(real: Callable[..., Any]) -> Callable[..., Any]:
            def effect(*arguments: Any, **options: Any) -> Any:
                nonlocal effects
                if current_thread() is main_thread():
                    if effects == at:
                        raise KilledPass
                    effects += 1
                return real(*arguments, **options)

            return effect

        with pytest.MonkeyPatch.context() as patch:
            # Commands of HAProxy and requests of MLflow's client; records, gauges and the state file; a fetched folder.
            for owner, name in ((socket.socket, "sendall"), (Path, "replace"), (os, "rename")):
                patch.setattr(owner, name, before(getattr(owner, name)))
            with contextlib.suppress(KilledPass):
                FollowPass(self.config, ModelRegistry, self.follow.clock, self.lines.append).run()

    def until(self, reached: Callable[[], bool], requests: int = 0, *, is_killed: bool = False) -> None:
        """Run passes, with requests of clients between them, until a state is reached. With `is_killed` every other pass is
        killed, each before a later effect.
        """
        deadline = time.monotonic() + SECONDS
        for number in range(1_000_000):
            if reached():
                break
            assert time.monotonic() < deadline, (self.lines, self.gateway.servers(), self.aliases())
            if is_killed:
                self.killed_pass(number % KILLS)
            self.one_pass()
            self.send(requests)
            if not requests:
                time.sleep(0.05)

    def send(self, requests: int) -> None:
        """Send requests of clients, and count the answers."""
        result = self.gateway.load(requests)
        self.load.statuses += result.statuses
        self.load.versions += result.versions

    def serving(self) -> set[str]:
        """Return the versions that answer the next requests of clients."""
        return self.serving_of(self.gateway)

    def serving_of(self, entry: Gateway) -> set[str]:
        """Return the versions that answer the next requests of clients at a gateway."""
        result = entry.load(4, clients=2)
        assert set(result.statuses) == {200}, result.statuses
        return set(result.versions)

    def placement(self) -> dict[str, str]:
        """Return the version of each slot by the export."""
        return dict(self.host.export.services()["digits"].slots)


@contextmanager
def followed_site(
    folder: Path, operator: Operator, *, shadow: bool = False, scale: dict[str, float] | None = None
) -> Iterator[FollowedSite]:
    """Yield a site without a served model. With `shadow` each slot sends copies of its requests to the other one."""
    authority, certificate = write_certificates(folder)
    ports = {slot: _free_port() for slot in "ab"}
    export = folder / "export.sock"
    models = folder / "host" / "digits"
    models.mkdir(parents=True)
    units = {slot: f"landbridge-model-digits-{slot}" for slot in ports}
    for slot, port in ports.items():
        settings = {"service": "digits", "model": "digits", "listen": "127.0.0.1", "port": port, "concurrency": 64}
        settings |= {"folder": str(models / slot), "trust": str(operator.trust), "certificate": str(certificate)}
        settings |= {"authority": str(authority), "data_class": "internal", "drain_seconds": 0.6}
        if shadow:
            settings |= {"shadow": f"https://localhost:{ports['b' if slot == 'a' else 'a']}"}
        (folder / f"{slot}.json").write_text(json.dumps(settings))
    (folder / "units.json").write_text(json.dumps({unit: str(folder / f"{slot}.json") for slot, unit in units.items()}))
    systemctl = folder / "systemctl"
    systemctl.write_text(f'#!/bin/sh\nexec {sys.executable} {slot_units.__file__} {folder} "$@"\n')
    systemctl.chmod(0o755)
    places = {"export": str(export), "exporter": "other"}
    try:
        room = str(folder / "wait-digits.sock") if scale else ""
        slots = {slot: [port] for slot, port in ports.items()}
        with gateway(folder, authority, certificate, slots, places, waiting_room=room) as started:
            lines: list[str] = []
            config = load_follow_config(_follow_file(folder, operator, authority, started, ports, shadow, scale or {}))
            follow = FollowPass(config, ModelRegistry, lambda: time.time() + site.ahead, lines.append)
            host = load_host_config(_host_file(folder, operator, authority, started, units))
            site = FollowedSite(
                folder, operator, started, follow, HostPass(host, GatewayExport(host, STRANGER), lines.append), lines
            )
            with ModelExport(config, 0o600) as server:
                Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
                open_rooms(config, lines.append, 0o600)
                yield site
                server.shutdown()
    finally:
        for unit in units.values():
            slot_units.stop(folder, unit)


def _follow_file(
    folder: Path,
    operator: Operator,
    authority: Path,
    started: Gateway,
    ports: dict[str, int],
    shadow: bool,
    scale: dict[str, float],
) -> Path:
    servers = [
        {"name": f"{slot}-srv01", "slot": slot, "host": "srv01", "url": f"https://localhost:{port}/metrics"}
        for slot, port in ports.items()
    ]
    service = {"name": "digits", "model": "digits", "registry": operator.uri, "backend": backend("digits")}
    service |= {"hosts": ["srv01"], "servers": servers, "p95_ms": 25.0}
    service |= {"canary": {"weights": [50], "requests": 50, "step_seconds": 0.1, "shadow": shadow}, "scale": scale}
    content = {"services": [service], "account": "landbridge-serving", "trust": str(operator.trust)}
    content |= {"authority": str(authority), "socket": started.settings.socket, "state": str(folder / "follow")}
    content |= {"state_file": started.settings.state_file, "export": started.settings.export}
    path = folder / "follow.json"
    path.write_text(json.dumps(content | {"orders": str(folder / "orders.json")}))
    return path


def _host_file(folder: Path, operator: Operator, authority: Path, started: Gateway, units: dict[str, str]) -> Path:
    service = {"model": "digits", "data_class": "internal", "account": "", "units": units}
    content = {"host": "srv01", "gateway": "localhost", "address": "127.0.0.1", "port": started.port}
    content |= {"token": "", "authority": str(authority), "trust": str(operator.trust), "models": str(folder / "host")}
    path = folder / "host.json"
    path.write_text(json.dumps({**content, "services": {"digits": service}, "systemctl": str(folder / "systemctl")}))
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
