"""Real tritonserver with the unit's command line, alone and behind HAProxy with the rendered configuration. Long: it is fetched."""

import asyncio
import http.client
import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from landbridge.models.files.sign import sign_folder
from landbridge.plan.serving.gateway import gateway_services
from landbridge.serving.server.program import REFUSED
from sandbox.demo.cluster import wait_for
from tests.unit.served_models.folders import write_folder
from tests.unit.served_models.gateway import Gateway, gateway
from tests.unit.served_models.processes import BODY
from tests.unit.served_models.programs.triton import (
    ADDRESS,
    TritonServer,
    common_port,
    model_folder,
    site_with,
    triton_server,
)
from tests.unit.served_models.site_ca import write_certificates

pytestmark = [pytest.mark.long, pytest.mark.slow]

Start = Callable[..., AbstractContextManager[TritonServer]]
INFER = "/v2/models/digits/infer"


@pytest.fixture
def start(program: Path, backends: Path, tmp_path: Path) -> Start:
    """Return a function that starts a slot: its name, and optionally its port and model folder."""
    model = model_folder(tmp_path / "3")

    @contextmanager
    def started(slot: str, port: int = 0, folder: Path = model) -> Iterator[TritonServer]:
        with triton_server(program, backends, tmp_path, slot, folder, port or common_port()) as server:
            yield server

    return started


def test_two_slots_of_a_host_serve_a_model_folder(start: Start) -> None:
    """The folder has a signature beside the model, and no config.pbtxt. Metrics are at the loopback only."""
    with start("a") as first, start("b") as second:
        for server in (first, second):
            server.wait_until_ready()
            assert '"default-max-batch-size":"0"' in server.log.read_text(errors="replace")
            assert server.request("GET", "/v2/models/other/ready")[0] == 400
            status, text = server.request("POST", INFER, BODY)
            assert status == 200
            assert json.loads(text)["outputs"][0] == {
                "name": "probabilities",
                "datatype": "FP32",
                "shape": [1, 2],
                "data": [3.5, -3.5],
            }
            assert server.request("GET", "/metrics")[0] == 404
            status, text = server.request("GET", "/metrics", address="127.0.0.1")
            assert status == 200
            assert 'nv_inference_request_success{model="digits",version="1"} 1' in text


def test_requests_in_flight_end_before_the_server(start: Start) -> None:
    with start("a") as server:
        server.wait_until_ready()
        connection = http.client.HTTPConnection(ADDRESS, server.port)
        connection.request("GET", "/v2/health/live")
        assert connection.getresponse().read() == b""
        connection.putrequest("POST", INFER)
        connection.putheader("Content-Length", str(len(BODY)))
        connection.endheaders(BODY[:10].encode())
        server.process.send_signal(signal.SIGTERM)
        wait_for("the end of new connections", partial(server.line, "Found 1 HTTP service connections"))
        with pytest.raises(OSError):
            server.request("GET", "/v2/health/ready")
        connection.send(BODY[10:].encode())
        assert connection.getresponse().read().startswith(b'{"model_name":"digits"')
        connection.close()
        assert server.process.wait() == 0


def test_a_model_that_does_not_load_ends_the_server_with_the_status_that_its_unit_does_not_restart(
    start: Start, tmp_path: Path
) -> None:
    """The package has no backend for ONNX: Triton recognises the format of the folder, and looks for the backend."""
    folder = write_folder(tmp_path / "onnx", "4")
    assert sign_folder(folder, (tmp_path / "signer.pem").read_text()) == []
    with start("a", folder=folder) as server:
        assert server.process.wait() == 1
        assert "onnxruntime" in server.log.read_text(errors="replace")


def test_a_changed_folder_is_not_loaded(start: Start, tmp_path: Path) -> None:
    (tmp_path / "3" / "model.py").write_text("raise SystemExit")
    with start("a") as server:
        assert server.process.wait() == REFUSED
        assert "model.py" in server.line("refused") and not server.line("Triton")


def test_weights_and_the_end_of_servers_give_no_client_an_error(start: Start, tmp_path: Path) -> None:
    with start("a") as first, start("b") as second, served(tmp_path, first, second) as entry:
        assert entry.load(40).statuses == {200: 40}
        assert answers(entry) == {"a-srv01": 40}
        assert entry.program("weights", "digits", "50", "50").returncode == 0
        assert entry.load(100).statuses == {200: 100}
        assert answers(entry)["b-srv01"] == pytest.approx(50, abs=8)
        assert asyncio.run(until_ended(entry, first, signal.SIGTERM, "a-srv01")) == {200}
        assert first.process.returncode == 0
        entry.wait(a_srv01="DOWN")
        with start("a", first.port) as again:
            again.wait_until_ready()
            entry.wait(a_srv01="UP")
            assert asyncio.run(until_ended(entry, again, signal.SIGKILL, "a-srv01")) == {200}


def test_a_drained_server_gets_no_request_and_ends(start: Start, tmp_path: Path) -> None:
    with start("a") as first, start("b") as second, served(tmp_path, first, second) as entry:

        async def drain_under_load() -> dict[int, int]:
            loading = asyncio.create_task(entry.loading(600))
            await answered(entry, "a-srv01", loading)
            done = await asyncio.to_thread(entry.program, "weights", "digits", "0", "100")
            assert done.returncode == 0, done.stderr
            return dict((await loading).statuses)

        assert asyncio.run(drain_under_load()) == {200: 600}
        before = answers(entry)
        assert before["b-srv01"] > 0
        assert asyncio.run(until_ended(entry, first, signal.SIGTERM, "b-srv01")) == {200}
        assert first.process.returncode == 0
        assert answers(entry)["a-srv01"] == before["a-srv01"]


@contextmanager
def served(folder: Path, first: TritonServer, second: TritonServer) -> Iterator[Gateway]:
    """Yield HAProxy before both slots with the plan's settings of the service, but for the addresses and the caller."""
    for server in (first, second):
        server.wait_until_ready()
    (planned,) = gateway_services(site_with("triton"))
    ports = {"a": first.port, "b": second.port}
    servers = tuple(
        replace(server, address=ADDRESS, port=ports[server.slot])
        for server in planned.servers
        if server.host == "srv01"
    )
    changes = {
        name: getattr(planned, name) for name in ("path", "health", "tls", "is_cut", "concurrency", "keeps_connections")
    }
    with gateway(folder, *write_certificates(folder), {}, servers=servers, **changes) as entry:
        entry.wait(a_srv01="UP", b_srv01="UP")
        yield entry


def answers(entry: Gateway) -> Counter[str]:
    """Return the number of requests of each server by HAProxy's log."""
    lines = (entry.folder / "haproxy.log").read_text().splitlines()
    return Counter(json.loads(line)["server"] for line in lines if line.startswith("{"))


async def answered(entry: Gateway, server: str, loading: "asyncio.Task[object]") -> None:
    """Wait until a server has answered requests of the load."""
    before = answers(entry)[server]
    while answers(entry)[server] < before + 20:
        assert not loading.done(), loading.result()
        await asyncio.sleep(0.01)


async def until_ended(entry: Gateway, server: TritonServer, number: signal.Signals, busy: str) -> set[int]:
    """Send a signal to a server while another or the same one is busy, go on until its process has ended; return clients' statuses."""
    loading = asyncio.create_task(entry.loading(400))
    await answered(entry, busy, loading)
    server.process.send_signal(number)
    statuses = set((await loading).statuses)
    while server.process.poll() is None:
        statuses |= set((await entry.loading(100)).statuses)
    return statuses
