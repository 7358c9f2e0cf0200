"""Shadow of real model servers: answers are compared, no client waits for them, and nothing of a request leaves the memory."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from landbridge.models.canary.tallies import Tally
from landbridge.serving.canary_controller.exposition import samples, total
from landbridge.serving.canary_controller.guard_counters import shadow_counters
from landbridge.serving.server.shadow import SHADOW_HEADER
from tests.unit.served_models.folders import new_key, onnx_bytes, sign, write_folder
from tests.unit.served_models.processes import ModelServer, model_server
from tests.unit.served_models.test_model_server import eventually

#: A bias with which the other class has the greatest value.
OTHER_CLASS = 3.0
#: Number that no other request of the tests has.
MARK = 0.1234567


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a folder with signed model folders 1, 2 and 3, and the trust. Version 3 answers with the other class."""
    place = tmp_path_factory.mktemp("models")
    key, trust = new_key(place)
    for version, bias in (("1", 0.0), ("2", 0.01), ("3", OTHER_CLASS)):
        sign(write_folder(place / version, version, onnx_bytes(bias)), key)
    return place, trust


@contextmanager
def pair(
    tmp_path: Path, folders: tuple[Path, Path], candidate: str, **settings: int
) -> Iterator[tuple[ModelServer, ModelServer]]:
    """Yield the server of version 1, and that of a candidate which gets its copies."""
    place, trust = folders
    with (
        model_server(tmp_path, "b", folder=str(place / candidate), trust=str(trust), **settings) as other,
        model_server(
            tmp_path, "a", folder=str(place / "1"), trust=str(trust), shadow=f"http://127.0.0.1:{other.port}"
        ) as server,
    ):
        yield server, other


def read(server: ModelServer) -> list[str]:
    return str(server.request("GET", "/metrics")[1]).splitlines()


def copies(server: ModelServer, candidate: str, seconds: float = 10.0) -> dict[str, Tally]:
    return shadow_counters(tuple(samples("\n".join(read(server)))), "1", candidate, seconds)


def send(server: ModelServer, value: float = 0.5) -> int:
    inputs = [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [value, 1, 2]}]
    return server.request("POST", "/v2/models/digits/infer", json.dumps({"inputs": inputs}))[0]


def test_answers_of_the_same_class_agree(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    with pair(tmp_path, folders, "2", client_rate=1) as (server, other):
        for number in range(5):
            assert send(server) == 200
            eventually(lambda number=number: copies(server, "2").get("disagreement") == Tally(0, number + 1))
        assert copies(server, "2") == {
            "disagreement": Tally(0, 5),
            "errors": Tally(0, 5),
            "late": Tally(0, 5),
        }
        others = set(copies(server, "3").values())
        assert others == {Tally()}, "copies count for the version that answered them"
        text = "\n".join(read(server))
        assert 'landbridge_model_shadow_difference_count{service="digits",model="digits",version="1"' in text
        # Bias 0.01 changes a probability by 0.0024: above the bucket of 0.001, up to that of 0.01.
        row = [line for line in text.splitlines() if "shadow_difference_bucket" in line]
        assert [line.rpartition(" ")[2] for line in row if 'le="0.001"' in line or 'le="0.01"' in line] == ["0", "5"]
        # The rate of a client is not that of copies, and the guards of clients' requests do not count them.
        theirs = tuple(samples("\n".join(read(other))))
        assert total(theirs, "landbridge_model_copies_total", status="200") == 5
        assert total(theirs, "landbridge_model_requests_total") == 0
        assert total(theirs, "landbridge_model_confidence_count") == 0


def test_answers_of_another_class_differ(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    with pair(tmp_path, folders, "3") as (server, _):
        assert send(server) == 200
        eventually(lambda: copies(server, "3").get("disagreement") == Tally(1, 1))


def test_no_client_waits_for_a_shadow_that_does_not_answer(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """The other side accepts the connection and is silent: 32 copies wait, the others are dropped, each client has its answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place, trust = folders
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with model_server(tmp_path, "a", folder=str(place / "1"), trust=str(trust), shadow=url) as server:
            assert [send(server) for _ in range(100)] == [200] * 100
            assert (
                total(tuple(samples("\n".join(read(server)))), "landbridge_model_shadow_total", result="dropped") >= 60
            )


def test_a_lost_candidate_counts_as_failed_and_an_empty_slot_does_not(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    with pair(tmp_path, folders, "2") as (server, other):
        assert send(server) == 200
        eventually(lambda: copies(server, "2").get("errors") == Tally(0, 1))
        other.process.kill()
        other.process.wait(30)
        assert send(server) == 200
        eventually(lambda: 'candidate="",result="absent"} 1' in "\n".join(read(server)))
        assert copies(server, "2")["errors"] == Tally(0, 1)


def test_nothing_of_a_request_is_written(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Logs, settings and metrics of both servers have no value of a request or of an answer."""
    with pair(tmp_path, folders, "3") as (server, other):
        assert send(server, MARK) == 200
        eventually(lambda: copies(server, "3").get("disagreement") == Tally(1, 1))
        text = "\n".join([*read(server), *read(other)])
        assert str(MARK) not in text
        written = [file for file in tmp_path.rglob("*") if file.is_file() and str(MARK).encode() in file.read_bytes()]
        assert not written
        assert '"shadow": true' in other.log.read_text()


def test_the_header_of_copies_is_not_a_client_s(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """A copy is not copied again; the gateway removes the header from requests of clients (test_serving_plan)."""
    with pair(tmp_path, folders, "2") as (server, other):
        assert other.infer(**{SHADOW_HEADER: "1"})[0] == 200
        # The server counts after it has answered.
        eventually(lambda: total(tuple(samples("\n".join(read(other)))), "landbridge_model_copies_total") == 1)
        assert total(tuple(samples("\n".join(read(server)))), "landbridge_model_shadow_total") == 0
