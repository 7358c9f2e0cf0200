"""Real tritonserver on a CPU: fetched from the package index by SHA-256, and started with the command line of a slot's unit."""

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from landbridge.environment import Environment, load_environment
from landbridge.models.files.sign import sign_program_folder
from landbridge.plan.network.services.serving import ModelSlot
from landbridge.plan.serving.model_servers import MODELS, TRITON_REPOSITORY, TRUST, command_line, folder_check
from sandbox.demo.cluster import wait_for
from sandbox.ports import free_port
from tests.unit.served_models.folders import new_key

FULL = Path(__file__).parents[4] / "tests/unit/rules/full.yaml"
#: Address of the servers: their metrics are at the same port of 127.0.0.1.
ADDRESS = "127.0.0.2"
#: Model of Triton's Python backend: two outputs from the sum of three features. Triton completes its configuration, as that of an ONNX model.
MODEL = """
import numpy as np
import triton_python_backend_utils as utils

class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "x", "data_type": "TYPE_FP32", "dims": [-1, 3]})
        config.add_output({"name": "probabilities", "data_type": "TYPE_FP32", "dims": [-1, 2]})
        config.set_max_batch_size(0)
        return config

    def execute(self, requests):
        totals = [utils.get_input_tensor_by_name(request, "x").as_numpy().sum(axis=1) for request in requests]
        outputs = [np.ascontiguousarray(np.stack([total, -total], axis=1)) for total in totals]
        return [utils.InferenceResponse([utils.Tensor("probabilities", output)]) for output in outputs]
"""
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class TritonServer:
    """Process of tritonserver."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    def request(self, method: str, path: str, body: str | None = None, address: str = ADDRESS) -> tuple[int, str]:
        """Return status and body of an answer."""
        connection = http.client.HTTPConnection(address, self.port)
        try:
            connection.request(method, path, body)
            answered = connection.getresponse()
            return answered.status, answered.read().decode()
        finally:
            connection.close()

    def wait_until_ready(self) -> None:
        """Wait until the gateway's health check would succeed, and the metrics have their port."""
        wait_for(f"Triton at port {self.port}", self._is_ready, details=lambda: self.log.read_text(errors="replace"))

    def _is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(self.log.read_text(errors="replace"))
        # Metrics are the last: the program ends if their port is in use.
        if not self.line("Started Metrics Service"):
            return False
        return self.request("GET", "/v2/models/digits/ready")[0] == self.request("GET", "/v2/health/ready")[0] == 200

    def line(self, text: str) -> str:
        """Return the line of the log with a text; empty without."""
        return next((line for line in self.log.read_text(errors="replace").splitlines() if text in line), "")


def site_with(runtime: str) -> Environment:
    """Return the environment of the plan's tests, whose service has another runtime."""
    site = load_environment(FULL).environment
    assert site.serving is not None
    changes = {"runtime": runtime, "canary": None, "scale": None, "shadow": False, "client_rate": 0}
    service = site.serving.services["digits"].model_copy(update=changes)
    serving = site.serving.model_copy(update={"services": {"digits": service}, "aws": None})
    return site.model_copy(update={"serving": serving})


def common_port() -> int:
    """Return a port that is free at both addresses."""
    while True:
        port = free_port()
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((ADDRESS, port))
            return port


def model_folder(folder: Path) -> Path:
    """Write a signed folder with a model in Python, without config.pbtxt. The key that is trusted is beside it."""
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(MODEL)
    private, _ = new_key(folder.parent)
    assert sign_program_folder(folder, private.read_text()) == []
    return folder


@contextmanager
def triton_server(
    program: Path, backends: Path, folder: Path, slot: str, model: Path, port: int
) -> Iterator[TritonServer]:
    """Start a slot with the unit's command line, yield it, and end it. The mounts of the unit are links."""
    site = site_with("triton")
    assert site.serving is not None
    service = site.serving.services["digits"]
    planned = ModelSlot("digits", slot, "srv01", port)
    _, *options = command_line(service, "digits", planned, ADDRESS)
    place = Path(tempfile.mkdtemp(prefix=f"slot-{slot}-", dir=folder))
    # The backend writes bytecode beside the model; the unit's account cannot write there.
    loaded = Path(shutil.copytree(model, place / "model"))
    check = [
        word.replace(f"{MODELS}/digits/{slot}", str(loaded)).replace(TRUST, str(model.parent / "trust.pem"))
        for word in folder_check(service, "digits", planned)[2:]
    ]
    repository, log = place / "repository", place / "log"
    (repository / service.model).mkdir(parents=True)
    (repository / service.model / "1").symlink_to(loaded)
    options = [option.replace(TRITON_REPOSITORY, str(repository)) for option in options]
    installed = packages(program)
    places = {
        "PATH": f"{program / 'bin'}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": str(installed / "nvidia_pytriton.libs"),
        "PYTHONPATH": str(FULL.parents[3]),
    }
    binary = installed / "pytriton/tritonserver/bin/tritonserver"
    with log.open("wb") as output:
        line = [sys.executable, *check, str(binary), *options, f"--backend-directory={backends}"]
        process = subprocess.Popen(line, stdout=output, stderr=output, env={**os.environ, **places})
    started = TritonServer(process, port, log)
    try:
        yield started
    finally:
        process.kill()
        process.wait(30)


def packages(program: Path) -> Path:
    """Return the folder of Python packages of the virtual environment."""
    return program / f"lib/python{PYTHON}/site-packages"
