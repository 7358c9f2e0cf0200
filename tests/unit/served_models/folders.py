"""Model folders for tests: a small ONNX model that is signed with a key."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from model_signing.hashing import Config as Hashing
from model_signing.signing import Config as Signing
from onnx import TensorProto, helper, numpy_helper

#: Three features, two classes; the bias of a version makes its answers recognisable.
FEATURES, CLASSES = 3, 2


def new_key(folder: Path) -> tuple[Path, Path]:
    """Write a new private key and its public key."""
    key = ec.generate_private_key(ec.SECP256R1())
    private, public = folder / "signer.pem", folder / "trust.pem"
    pem = serialization.Encoding.PEM
    private.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


def onnx_bytes(bias: float = 0.0) -> bytes:
    """Return a model: softmax of a linear function."""
    weights = np.arange(FEATURES * CLASSES, dtype=np.float32).reshape(FEATURES, CLASSES) / 10
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Softmax", ["sum"], ["probabilities"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, FEATURES])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, CLASSES])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.array([bias, 0], np.float32), "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def write_folder(folder: Path, version: str, data: bytes | None = None, **changes: Any) -> Path:
    """Write weights and manifest, without a signature."""
    data = onnx_bytes(float(version)) if data is None else data
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(data)
    manifest = {
        "schema": 1,
        "name": "digits",
        "version": version,
        "data_class": "internal",
        "format": "onnx",
        "files": {"model.onnx": {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}},
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, FEATURES]}],
        "outputs": [{"name": "probabilities", "datatype": "FP32", "shape": [-1, CLASSES]}],
        "metrics": {},
        "reference": {"features": {"x[0]": {"edges": [0.0, 1.0, 2.0]}}},
    }
    (folder / "model.json").write_text(json.dumps(manifest | changes))
    return folder


def sign(folder: Path, private_key: Path) -> Path:
    """Sign a model folder."""
    hashing = Hashing().set_ignored_paths(paths=["model.sig"], ignore_git_paths=False)
    config = Signing().use_elliptic_key_signer(private_key=private_key).set_hashing_config(hashing)
    config.sign(folder, folder / "model.sig")
    return folder
