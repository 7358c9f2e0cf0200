"""Drift of the exported digits model: its reference, the model server's histograms and the command judge the same bins."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import checkpoints
import numpy as np
import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.models.drift.reference import parse_reference, reference_of
from tests.unit.served_models.folders import new_key, sign
from tests.unit.served_models.processes import ModelServer, model_server

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "examples" / "digits"))
import digits_data
import export_model


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ModelServer, Path]]:
    folder = tmp_path_factory.mktemp("digits")
    random, sizes = np.random.default_rng(7), (64, 16, 16, 10)
    arrays = {}
    for layer in range(3):
        arrays[f"w{layer}"] = random.normal(0, 0.3, sizes[layer : layer + 2]).astype(np.float32)
        arrays[f"b{layer}"] = np.zeros(sizes[layer + 1], np.float32)
    checkpoints.write(folder / "run", 1, arrays, {"seed": 7, "loss": 1.0})
    model = folder / "1"
    assert export_model.main([str(folder / "run"), str(model), "--commit", ""]) == 0
    key, trust = new_key(folder)
    manifest = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps(manifest | {"version": "1"}))
    sign(model, key)
    with model_server(folder, "digits", folder=str(model), trust=str(trust)) as server:
        yield server, model / "model.json"


def send(server: ModelServer, x: np.ndarray) -> str:
    """Send rows, and return the metrics afterwards."""
    tensor = {"name": "x", "datatype": "FP32", "shape": list(x.shape), "data": x.ravel().tolist()}
    status, content, _ = server.request("POST", "/v2/models/digits/infer", json.dumps({"inputs": [tensor]}))
    assert status == 200, content
    return str(server.request("GET", "/metrics")[1])


def test_the_reference_is_that_of_the_product(served: tuple[ModelServer, Path]) -> None:
    _, (x, _) = digits_data.load_data(7)
    written = parse_reference(json.loads(served[1].read_text())["reference"])
    expected = reference_of({f"x[{column}]": x[:, column].tolist() for column in range(64)})
    assert written.features == expected.features
    assert written.confidence is not None and written.confidence.total == len(x)


def test_the_server_s_metrics_have_drift_if_and_only_if_the_inputs_have(
    served: tuple[ModelServer, Path], tmp_path: Path
) -> None:
    server, manifest = served
    (seen, _), (x, _) = digits_data.load_data(7)
    for name, rows in (("before", x[:1]), ("same", seen), ("shifted", seen[:, ::-1])):
        (tmp_path / name).write_text(send(server, rows))

    def judged(before: str, after: str) -> tuple[int, dict[str, list[object]]]:
        words = ["model", "drift", str(manifest), "--before", str(tmp_path / before), "--format", "json"]
        words += ["--metrics", str(tmp_path / after), "--trigger", str(tmp_path / f"{after}.json")]
        done = CliRunner().invoke(build(), words)
        return done.exit_code, json.loads(done.stdout)

    status, report = judged("before", "same")
    assert (status, len(report["features"])) == (0, report_length(manifest))
    assert not (tmp_path / "same.json").exists()
    assert report["accuracy"] is not None
    status, report = judged("same", "shifted")
    assert status == 1
    trigger = json.loads((tmp_path / "shifted.json").read_text())
    assert (trigger["model"], trigger["version"]) == ("digits", "1")


def report_length(manifest: Path) -> int:
    """Return the number of features that have more than one bin."""
    reference = parse_reference(json.loads(manifest.read_text())["reference"])
    return sum(bool(each.edges) for each in reference.features.values())
