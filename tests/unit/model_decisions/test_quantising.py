"""A trained network of the digits in INT8: smaller, as accurate within the bounds, and the gate that refuses a broken one."""

import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from landbridge.models.quantising.folders import QuantiseError, quantise, read_manifest, read_rows
from landbridge.models.quantising.measure import measured
from landbridge.models.sizing.comparison import ComparisonBounds, compared

BOUNDS = ComparisonBounds(accuracy_loss=0.03, latency_ratio=5.0, memory_ratio=1.1, size_ratio=0.5)


def write_folder(folder: Path, layers: list[tuple[np.ndarray, np.ndarray]]) -> Path:
    """Write a model folder with a network of ReLU layers and a softmax."""
    nodes, values, last = [], [], "x"
    for number, (weights, bias) in enumerate(layers):
        values += [numpy_helper.from_array(weights.astype(np.float32), f"w{number}")]
        values += [numpy_helper.from_array(bias.astype(np.float32), f"b{number}")]
        nodes.append(helper.make_node("MatMul", [last, f"w{number}"], [f"m{number}"]))
        nodes.append(helper.make_node("Add", [f"m{number}", f"b{number}"], [f"a{number}"]))
        is_last = number == len(layers) - 1
        last = "probabilities" if is_last else f"r{number}"
        nodes.append(helper.make_node("Softmax" if is_last else "Relu", [f"a{number}"], [last]))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 64])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["rows", 10])],
        values,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    content = (folder / "model.onnx").read_bytes()
    manifest = {
        "schema": 1,
        "name": "digits",
        "version": "3",
        "data_class": "internal",
        "format": "onnx",
        "files": {"model.onnx": {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}},
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 64]}],
        "outputs": [{"name": "probabilities", "datatype": "FP32", "shape": [-1, 10]}],
        "metrics": {"accuracy": 0.97},
    }
    (folder / "model.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Train a network, and return its folder and a file with rows that it did not see."""
    root = tmp_path_factory.mktemp("digits")
    data = load_digits()
    inputs = (data.data / 16).astype(np.float32)
    network = MLPClassifier((128, 64), max_iter=40, random_state=0).fit(inputs[:1200], data.target[:1200])
    folder = write_folder(root / "original", list(zip(network.coefs_, network.intercepts_, strict=True)))
    np.savez(root / "rows.npz", x=inputs[1200:], labels=data.target[1200:])
    return folder, root / "rows.npz"


@pytest.mark.parametrize("is_static", [False, True])
def test_int8_is_smaller_and_passes_the_gate(digits: tuple[Path, Path], tmp_path: Path, is_static: bool) -> None:
    folder, rows = digits
    manifest = quantise(folder, tmp_path / "int8", rows if is_static else None)
    assert "version" not in manifest
    assert "metrics" not in manifest
    assert read_manifest(tmp_path / "int8") == manifest
    assert sorted(path.name for path in (tmp_path / "int8").iterdir()) == ["model.json", "model.onnx"]
    original, smaller = measured([folder, tmp_path / "int8"], rows, 200, 1)
    values = {each.name: each for each in compared(original, smaller, BOUNDS, usd_hour=0.1)}
    assert values["accuracy"].original > 0.9
    # Latency is compared with its bound by the tests of `compared`: on a busy machine it says nothing of the model.
    assert [each.name for each in values.values() if not each.passed and each.name != "p95_seconds"] == []
    assert values["p95_seconds"].judged > 0
    assert values["size_bytes"].judged < 0.45
    assert len(original.seconds) == len(smaller.seconds) == 200


def test_a_broken_version_is_refused(digits: tuple[Path, Path], tmp_path: Path) -> None:
    folder, rows = digits
    model = onnx.load(folder / "model.onnx")
    layers = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    coarse = [(np.round(layers[f"w{at}"] * 0.7), layers[f"b{at}"]) for at in range(3)]
    original, smaller = measured([folder, write_folder(tmp_path / "coarse", coarse)], rows, 50, 1)
    values = compared(original, smaller, BOUNDS)
    assert "accuracy" in {each.name for each in values if not each.passed}


def test_a_changed_file_and_other_rows_are_refused(digits: tuple[Path, Path], tmp_path: Path) -> None:
    folder, rows = digits
    quantise(folder, tmp_path / "int8")
    with pytest.raises(QuantiseError, match="exists already"):
        quantise(folder, tmp_path / "int8")
    (tmp_path / "int8" / "model.onnx").write_bytes(b"other")
    with pytest.raises(QuantiseError, match="was replaced"):
        quantise(tmp_path / "int8", tmp_path / "again")
    np.savez(tmp_path / "pickled.npz", x=np.array([{}], dtype=object))
    with pytest.raises(QuantiseError, match="plain arrays"):
        read_rows(tmp_path / "pickled.npz")
    np.savez(tmp_path / "other.npz", y=np.zeros((2, 64)), labels=np.zeros(2))
    with pytest.raises(QuantiseError, match="no array x"):
        measured([folder], tmp_path / "other.npz", 1, 1)
    assert rows.exists()
