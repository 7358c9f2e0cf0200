"""Model folder of a checkpoint: `python export_model.py CHECKPOINT FOLDER [--class CLASS] [--dataset NAME@VERSION] ...`.

The parameters become an ONNX file, whose output is the probability of each digit. `model.json` has inputs, outputs, lineage,
metrics on the test images, and the distributions of their features and of the confidence. `landbridge model register` takes the folder.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import checkpoints
import numpy as np
from digits_data import load_data
from onnx import TensorProto, checker, helper, numpy_helper

#: Version of ONNX's operators, and of its file format; each runtime since ONNX Runtime 1.20 has both.
OPSET, IR_VERSION = 21, 10
WEIGHTS = ("w0", "b0", "w1", "b1", "w2", "b2")


def onnx_model(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the network as an ONNX file: two hidden layers with ReLU, and softmax."""
    nodes, value = [], "x"
    for layer in range(3):
        output = f"layer{layer}"
        nodes.append(helper.make_node("Gemm", [value, f"w{layer}", f"b{layer}"], [output]))
        value = output
        if layer < 2:
            value = f"hidden{layer}"
            nodes.append(helper.make_node("Relu", [output], [value]))
    nodes.append(helper.make_node("Softmax", [value], ["probabilities"], axis=1))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.asarray(arrays[name], np.float32), name) for name in WEIGHTS],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def probabilities(arrays: Mapping[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Return the probability of each digit, computed with NumPy."""
    for layer in range(2):
        x = np.maximum(x @ arrays[f"w{layer}"] + arrays[f"b{layer}"], 0.0)
    logits = x @ arrays["w2"] + arrays["b2"]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def reference(x: np.ndarray, confidence: np.ndarray, accuracy: float) -> dict[str, Any]:
    """Return the reference of drift: counts by bin of each feature and of the confidence, on data that training did not see."""
    return {
        "schema": 1,
        "features": {f"x[{index}]": binned(column, deciles(column)) for index, column in enumerate(x.T)},
        "confidence": binned(confidence, np.arange(1, 10) / 10),
        "accuracy": accuracy,
    }


def deciles(values: np.ndarray) -> np.ndarray:
    """Return the inner edges of bins; fewer than nine if a value has more than its share."""
    edges = np.unique(np.sort(values)[len(values) * np.arange(1, 10) // 10])
    return np.asarray(edges[edges < values.max()])


def binned(values: np.ndarray, edges: np.ndarray) -> dict[str, list[Any]]:
    """Return the counts by bin. Bin i has the values above edge i-1 and up to edge i."""
    counts = np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1)
    return {"edges": [float(edge) for edge in edges], "counts": [int(count) for count in counts]}


def export(saved: checkpoints.Checkpoint, folder: Path, data_class: str, lineage: Mapping[str, str]) -> None:
    """Write the model folder of a checkpoint; model.json is last."""
    arrays = saved.arrays()
    _, (test_x, test_y) = load_data(int(saved.facts.get("seed", 7)))
    weights = onnx_model(arrays)
    predicted = probabilities(arrays, test_x)
    accuracy = float(np.mean(predicted.argmax(axis=1) == test_y))
    manifest = {
        "schema": 1,
        "name": "digits",
        "data_class": data_class,
        "format": "onnx",
        "files": {"model.onnx": {"sha256": hashlib.sha256(weights).hexdigest(), "bytes": len(weights)}},
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 64]}],
        "outputs": [{"name": "probabilities", "datatype": "FP32", "shape": [-1, 10]}],
        "lineage": {key: value for key, value in lineage.items() if value},
        "metrics": {"accuracy": accuracy, "loss": float(saved.facts.get("loss", 0.0))},
        "reference": reference(test_x, predicted.max(axis=1), accuracy),
    }
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(weights)
    (folder / "model.json").write_text(json.dumps(manifest, indent=2) + "\n")


def commit() -> str:
    """Return the Git commit of the current folder; empty without one."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def main(argv: list[str] | None = None) -> int:
    """Export a checkpoint: a folder epoch-000012, or the folder of a run, whose newest one is used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folder", type=Path, help="new model folder")
    parser.add_argument("--class", dest="data_class", default=os.environ.get("LANDBRIDGE_DATA_CLASS", "internal"))
    parser.add_argument("--dataset", default="", help="NAME@VERSION of the training data")
    parser.add_argument("--run", default="", help="MLflow run")
    parser.add_argument("--job", default=os.environ.get("SLURM_JOB_ID", ""))
    parser.add_argument("--container", default="", help="digest of the container image")
    parser.add_argument("--cost", default="", help="cost of the training, such as 1.23 USD")
    parser.add_argument("--commit", default=None, help="Git commit (default: that of the current folder)")
    options = parser.parse_args(argv)
    if checkpoints.epoch_of(options.checkpoint.name) is not None:
        saved: checkpoints.Checkpoint | None = checkpoints.verify(options.checkpoint)
    else:
        saved = checkpoints.newest(options.checkpoint, lambda reason: print(f"passed over: {reason}", file=sys.stderr))
    if saved is None:
        print(f"{options.checkpoint}: no complete checkpoint", file=sys.stderr)
        return 2
    if options.folder.exists():
        print(f"{options.folder} exists", file=sys.stderr)
        return 2
    lineage = {name: getattr(options, name) for name in ("dataset", "run", "job", "container", "cost")}
    lineage["commit"] = commit() if options.commit is None else options.commit
    export(saved, options.folder, options.data_class, lineage)
    print(options.folder)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except checkpoints.Damaged as damage:
        print(damage, file=sys.stderr)
        sys.exit(2)
