"""Digits models: scikit-learn trains the network of the example, and the example's own export writes the model folder."""

import hashlib
import json
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"
SEED = 7
DATASET = "digits"
#: Rows and columns of the matrices of a slow version.
_SLOW = 1800


def example(name: str) -> Any:
    """Import a module of the digits example."""
    import importlib

    if str(_EXAMPLE) not in sys.path:
        sys.path.insert(0, str(_EXAMPLE))
    return importlib.import_module(name)


def train(
    folder: Path,
    work: Path,
    *,
    passes: int,
    are_swapped: bool = False,
    scale: float = 1.0,
    is_slow: bool = False,
) -> None:
    """Train a network and write its model folder.

    `are_swapped`: the labels 3 and 8 are exchanged. `scale`: factor of the last layer; a small one leaves the answers right, and makes
    each unsure. `is_slow`: the answers are right and late.
    """
    from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
    from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]

    (x, y), _ = example("digits_data").load_data(SEED)
    if are_swapped:
        y = y.copy()
        three, eight = y == 3, y == 8
        y[three], y[eight] = 8, 3
    network = MLPClassifier((32, 32), max_iter=passes, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(x, y)
    arrays = {f"w{layer}": values.astype("float32") for layer, values in enumerate(network.coefs_)}
    arrays |= {f"b{layer}": values.astype("float32") for layer, values in enumerate(network.intercepts_)}
    arrays |= {name: arrays[name] * np.float32(scale) for name in ("w2", "b2")}
    checkpoints = example("checkpoints")
    checkpoints.write(work / f"{folder.name}-run", passes, arrays, {"seed": SEED, "loss": float(network.loss_)})
    saved = checkpoints.newest(work / f"{folder.name}-run")
    example("export_model").export(saved, folder, "internal", {"dataset": "digits@1"})
    if is_slow:
        _slow_down(folder)


def _slow_down(folder: Path) -> None:
    """Add a product of two large matrices, which depends on the input and changes no answer, to the weights of a folder."""
    model = onnx.load(str(folder / "model.onnx"))
    for node in model.graph.node:
        node.input[:] = ["late" if name == "x" else name for name in node.input]
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["part"], keepdims=0),
        helper.make_node("Expand", ["part", "size"], ["large"]),
        helper.make_node("MatMul", ["large", "large"], ["squared"]),
        helper.make_node("ReduceMax", ["squared"], ["greatest"], keepdims=0),
        helper.make_node("Mul", ["greatest", "nothing"], ["addend"]),
        helper.make_node("Add", ["x", "addend"], ["late"]),
    ]
    model.graph.node.extend(nodes)
    # A graph lists its nodes in the order in which they run.
    ordered = [*nodes, *[node for node in model.graph.node if node not in nodes]]
    del model.graph.node[:]
    model.graph.node.extend(ordered)
    size = helper.make_tensor("size", TensorProto.INT64, [2], [_SLOW, _SLOW])
    model.graph.initializer.extend([size, numpy_helper.from_array(np.array(0, np.float32), "nothing")])
    content = model.SerializeToString()
    (folder / "model.onnx").write_bytes(content)
    manifest = json.loads((folder / "model.json").read_text())
    manifest["files"] = {"model.onnx": {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}}
    (folder / "model.json").write_text(json.dumps(manifest, indent=2) + "\n")


@cache
def labelled_rows() -> tuple[list[list[float]], list[int]]:
    """Return the rows that clients send, and their true labels."""
    (train_x, train_y), (test_x, test_y) = example("digits_data").load_data(SEED)
    return [*train_x.tolist(), *test_x.tolist()], [*train_y.tolist(), *test_y.tolist()]
