"""Model folders of tests: a small ONNX model, its manifest, and a CA with signers."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from landbridge.models.lineage import ModelLineage
from landbridge.models.manifest import ModelFile, ModelManifest, ModelTensor

NOW = datetime.now(UTC)
LINEAGE = ModelLineage(
    dataset="digits@1", commit="0" * 40, container="sha256:" + "0" * 64, run="r1", job="7", cost="0.1 USD"
)


def onnx_bytes(bias: float = 0.0) -> bytes:
    """Return a model that adds a number to its input."""
    from onnx import TensorProto, helper

    added = helper.make_tensor("bias", TensorProto.FLOAT, [1], [bias])
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "bias"], ["y"])],
        "add",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
        [added],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return bytes(model.SerializeToString())


def manifest_of(weights: bytes, name: str = "digits", version: str = "1") -> ModelManifest:
    """Return the manifest of ONNX weights."""
    file = ModelFile(hashlib.sha256(weights).hexdigest(), len(weights))
    return ModelManifest(
        name=name,
        data_class="internal",
        format="onnx",
        files={"model.onnx": file},
        inputs=(ModelTensor("x", "FP32", (-1, 1)),),
        outputs=(ModelTensor("y", "FP32", (-1, 1)),),
        version=version,
        lineage=LINEAGE,
        metrics={"accuracy": 0.97},
    )


def write_folder(folder: Path, weights: bytes | None = None, name: str = "digits", version: str = "1") -> Path:
    """Write a model folder without a signature."""
    weights = onnx_bytes() if weights is None else weights
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(weights)
    (folder / "model.json").write_text(manifest_of(weights, name, version).to_json())
    return folder
