"""Model server as a process: predictions, refused folders and requests, limits, metrics, shadow and drain."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.served_models.folders import new_key, onnx_bytes, sign, write_folder
from tests.unit.served_models.processes import BODY, ModelServer, command, model_server
from tests.unit.served_models.site_ca import write_certificates

INFER = "/v2/models/digits/infer"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return new_key(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, keys: tuple[Path, Path]) -> Iterator[ModelServer]:
    folder = tmp_path_factory.mktemp("served")
    sign(write_folder(folder / "3", "3"), keys[0])
    with model_server(folder, "a", folder=str(folder / "3"), trust=str(keys[1]), max_request_bytes=4096) as server:
        yield server


def eventually(holds: Callable[[], bool]) -> None:
    """Wait for a state."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "the state did not come"
        time.sleep(0.02)


def test_a_prediction_has_the_model_s_probabilities_and_its_version(served: ModelServer) -> None:
    status, content, version = served.infer()
    assert (status, version) == (200, "3")
    (output,) = content["outputs"]
    assert (output["name"], output["shape"]) == ("probabilities", [1, 2])
    assert sum(output["data"]) == pytest.approx(1)
    assert output["data"][0] > 0.9  # the bias of version 3


def test_health_and_metadata_follow_the_protocol(served: ModelServer) -> None:
    assert [served.request("GET", f"/v2/health/{state}")[0] for state in ("live", "ready")] == [200, 200]
    _, content, _ = served.request("GET", "/v2/models/digits")
    assert content["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}]
    assert content["versions"] == ["3"]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("{", "not JSON"),
        ('{"inputs": []}', "each once"),
        (BODY.replace("FP32", "FP64"), "datatype FP32"),
        (BODY.replace("[1, 3]", "[1, 4]"), "shape [-1, 3]"),
        (BODY.replace("0.5, 1", "0.5"), "2 values"),
        (BODY.replace("0.5", '"a"'), "is not FP32"),
    ],
)
def test_a_request_that_does_not_match_the_model_is_refused(served: ModelServer, body: str, word: str) -> None:
    status, content, _ = served.request("POST", INFER, body)
    assert status == 400
    assert word in content["error"]


def test_a_long_request_is_refused_and_not_read(served: ModelServer) -> None:
    assert served.request("POST", INFER, "x" * 5000)[0] == 413


def test_another_version_and_another_model_are_not_served(served: ModelServer) -> None:
    for path in ("/v2/models/digits/versions/2/infer", "/v2/models/other/infer"):
        assert served.request("POST", path, BODY)[0] == 404


def test_a_client_over_its_rate_is_refused_and_another_is_not(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    """One request a second: a busy machine answers more too."""
    sign(write_folder(tmp_path / "3", "3"), keys[0])
    with model_server(tmp_path, "a", folder=str(tmp_path / "3"), trust=str(keys[1]), client_rate=1) as server:
        statuses = [server.infer(**{"X-Landbridge-Client": "loud"})[0] for _ in range(30)]
        assert set(statuses) == {200, 429}
        assert server.infer(**{"X-Landbridge-Client": "quiet"})[0] == 200


def test_the_log_has_the_client_and_the_size_and_no_content(served: ModelServer) -> None:
    served.request("POST", INFER, BODY.replace("0.5", "0.123456"), **{"X-Landbridge-Client": "research"})
    eventually(lambda: '"research"' in served.log.read_text())
    text = served.log.read_text()
    line = next(json.loads(line) for line in text.splitlines() if '"research"' in line)
    assert (line["status"], line["version"], line["bytes"]) == (200, "3", len(BODY) + 5)
    assert "0.123456" not in text


def test_metrics_count_requests_and_the_values_of_the_reference(served: ModelServer) -> None:
    before = _metrics(served)
    served.infer(**{"X-Landbridge-Client": "counted"})
    eventually(
        lambda: (
            _value(_metrics(served), "landbridge_model_latency_seconds_count")
            > _value(before, "landbridge_model_latency_seconds_count")
        )
    )
    after = _metrics(served)
    for name in (
        "landbridge_model_confidence_count",
        'landbridge_model_feature_bucket{service="digits",model="digits",version="3",feature="x[0]",le="1.0"}',
    ):
        assert _value(after, name) == _value(before, name) + 1
    assert 'landbridge_model_requests_total{service="digits",model="digits",version="3",status="413"}' in after


def _metrics(server: ModelServer) -> str:
    return str(server.request("GET", "/metrics")[1])


def _value(text: str, name: str) -> float:
    return next((float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name)), 0.0)


@pytest.mark.parametrize("case", ["unsigned", "tampered", "pickle", "stranger", "class", "name"])
def test_a_folder_is_refused_with_a_reason_and_status_1(tmp_path: Path, keys: tuple[Path, Path], case: str) -> None:
    folder, settings = tmp_path / "1", {"data_class": "internal"}
    private, trust = keys
    word = _broken(folder, case, private)
    if case == "stranger":
        _, trust = new_key(tmp_path)
    line = [*command(tmp_path, case, {**settings, "folder": str(folder), "trust": str(trust)}), "--check"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("refused: ") and done.stderr.count("\n") == 1
    assert word in done.stderr


def _broken(folder: Path, case: str, key: Path) -> str:
    """Write a folder that is refused, and return a word of the reason."""
    changes: dict[str, Any] = {"class": {"data_class": "restricted"}, "name": {"name": "other"}}.get(case, {})
    write_folder(folder, "1", **changes)
    if case == "unsigned":
        return "not signed"
    sign(folder, key)
    if case == "tampered":
        (folder / "model.onnx").write_bytes(onnx_bytes(9.0))
    if case == "pickle":
        (folder / "weights.pkl").write_bytes(b"\x80\x04.")
    words = {"tampered": "was replaced", "pickle": "weights.pkl", "stranger": "not trusted"}
    return words.get(case, f"{case} {changes.get('data_class', '')}".strip() if case == "class" else "other")


def test_settings_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    line = command(tmp_path, "open", {"folder": "/x", "trust": "/x", "listen": "0.0.0.0", "thread": 2})
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 1
    assert "unknown key thread" in done.stderr


def test_tls_shadow_and_drain(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    """A server with a certificate copies requests to another one, and ends after SIGTERM when the gateway has seen it."""
    authority, certificate = write_certificates(tmp_path)
    tls = {"certificate": str(certificate), "authority": str(authority), "trust": str(keys[1])}
    for version in ("1", "2"):
        sign(write_folder(tmp_path / version, version), keys[0])
    with (
        model_server(tmp_path, "b", folder=str(tmp_path / "2"), **tls) as other,
        model_server(
            tmp_path,
            "a",
            folder=str(tmp_path / "1"),
            shadow=f"https://localhost:{other.port}",
            drain_seconds=60.0,
            **tls,
        ) as server,
    ):
        assert server.infer()[2] == "1"
        eventually(lambda: '"shadow": true' in other.log.read_text())
        eventually(lambda: 'candidate="2",result="agreed"} 1' in _metrics(server))
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: "landbridge_model_ready" in _metrics(server) and "} 0" in _metrics(server).splitlines()[1])
        # It answers while it drains: the gateway has not asked yet.
        assert server.infer()[:3:2] == (200, "1")
        assert [server.request("GET", "/v2/health/ready")[0] for _ in range(2)] == [404, 404]
        assert server.process.wait(30) == 0
