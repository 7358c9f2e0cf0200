"""Processes of the model server and of HAProxy, and requests to them."""

import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BODY = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [0.5, 1, 2]}]})


@dataclass
class ModelServer:
    """Process of the model server, at a port of the loopback."""

    process: "subprocess.Popen[str]"
    port: int
    log: Path
    authority: Path | None = None

    def request(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, Any, str]:
        """Return status, body (JSON if it is) and the version of an answer."""
        connection = self.connect()
        try:
            connection.request(method, path, body, headers)
            answered = connection.getresponse()
            text = answered.read().decode()
            content = json.loads(text) if text.startswith("{") else text
            return answered.status, content, answered.headers.get("Landbridge-Model-Version", "")
        finally:
            connection.close()

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection."""
        if self.authority is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        context = ssl.create_default_context(cafile=str(self.authority))
        return http.client.HTTPSConnection("localhost", self.port, timeout=30, context=context)

    def infer(self, **headers: str) -> tuple[int, Any, str]:
        """Request a prediction."""
        return self.request("POST", "/v2/models/digits/infer", BODY, **headers)


def command(place: Path, name: str, settings: dict[str, Any]) -> list[str]:
    """Write the settings, and return the command line of the model server."""
    config = place / f"{name}.json"
    defaults = {"service": "digits", "model": "digits", "listen": "127.0.0.1", "port": 0, "drain_seconds": 5.0}
    config.write_text(json.dumps(defaults | settings))
    return [sys.executable, "-m", "landbridge.serving.server.service", "--config", str(config)]


@contextmanager
def model_server(place: Path, name: str, **settings: Any) -> Iterator[ModelServer]:
    """Yield a model server that is ready, and end it."""
    log, authority = place / f"{name}.log", settings.get("authority")
    with log.open("w") as output:
        process = subprocess.Popen(command(place, name, settings), stdout=output, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert " is ready at " in line, line + process.stderr.read()
        yield ModelServer(process, int(line.rpartition(":")[2]), log, Path(authority) if authority else None)
    finally:
        process.kill()
        process.wait(30)
        process.stderr.close()
