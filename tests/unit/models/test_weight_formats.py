"""Formats of weights: ONNX and safetensors by content; whatever can run code or reach outside of the file is refused."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from landbridge.models.formats import content_findings, name_findings
from tests.unit.models.folders import onnx_bytes


def messages(name: str, content: bytes) -> str:
    return "; ".join(finding.message for finding in content_findings(name, content))


def safetensors(header: dict[str, object], data: bytes = b"", pad: int = 0) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (pad - len(text))
    return len(text).to_bytes(8, "little") + text + data


def tensor(first: int, last: int, shape: list[int]) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [first, last]}


def model_with(
    *nodes: object, initializer: object = None, opsets: tuple[str, ...] = ("",), functions: object = ()
) -> bytes:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
        [initializer] if initializer is not None else [],
    )
    imports = [helper.make_opsetid(domain, 1 if domain else 21) for domain in opsets]
    return bytes(
        helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=10).SerializeToString()
    )


def external_tensor(location: str) -> object:
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1], [0.0])
    weights.ClearField("float_data")
    weights.data_location = TensorProto.EXTERNAL
    entry = weights.external_data.add()
    entry.key, entry.value = "location", location
    return weights


IDENTITY = helper.make_node("Identity", ["x"], ["y"])


def test_models_of_the_two_formats_are_accepted() -> None:
    assert messages("model.onnx", onnx_bytes()) == ""
    safe = safetensors({"a": tensor(0, 8, [2]), "b": tensor(8, 12, [1])}, bytes(12))
    assert messages("model.safetensors", safe) == ""


@pytest.mark.parametrize("length", [640, 896, 1152])
def test_safetensors_whose_length_begins_like_a_pickle_are_accepted(length: int) -> None:
    content = safetensors({"a": tensor(0, 4, [1])}, bytes(4), pad=length)
    assert content[0] == 0x80 and messages("model.safetensors", content) == ""


def test_the_files_of_the_libraries_are_accepted(tmp_path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic
    from safetensors.numpy import save

    assert messages("model.safetensors", save({"w": np.ones((3, 5), np.float32)}, {"format": "np"})) == ""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1, 1], [2.0])
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    quantize_dynamic(model, tmp_path / "int8.onnx")
    assert messages("model.onnx", (tmp_path / "int8.onnx").read_bytes()) == ""


REFUSED = {
    "pickle": (pickle.dumps(print), "a pickle"),
    "old pickle": (pickle.dumps(print, protocol=0), "a pickle"),
    "script": (b"#!/bin/sh\nid\n", "a script"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(64), "Lambda layer"),
    "zip": (b"PK\x03\x04" + bytes(64), "a zip file"),
    "numpy": (b"\x93NUMPY\x01\x00", "a NumPy file"),
    "zlib": (b"x\x9c" + bytes(8), "compressed"),
    "tar": (bytes(257) + b"ustar" + bytes(300), "a tar file"),
    "empty": (b"", "not an ONNX file"),
    "external": (model_with(IDENTITY, initializer=external_tensor("../../etc/shadow")), '"../../etc/shadow"'),
    "operator": (
        model_with(helper.make_node("Run", ["x"], ["y"], domain="evil"), opsets=("", "evil")),
        "operators of other domains need a library: evil::Run",
    ),
    "operator set": (model_with(IDENTITY, opsets=("", "evil")), "operator sets of other domains"),
    "end of a zip": (onnx_bytes() + b"PK\x03\x04" + bytes(30), "not an ONNX file"),
    "cut": (onnx_bytes()[:-9], "not an ONNX file"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_other_content_is_refused(kind: str) -> None:
    content, reason = REFUSED[kind]
    assert reason in messages("model.onnx", content)


def test_an_operator_inside_of_a_branch_is_found() -> None:
    inner = helper.make_graph(
        [helper.make_node("Run", [], ["b"], domain="evil")],
        "branch",
        [],
        [helper.make_tensor_value_info("b", TensorProto.FLOAT, [1])],
    )
    node = helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)
    assert "evil::Run" in messages("model.onnx", model_with(node, opsets=("", "evil")))


def test_a_function_of_the_model_itself_is_no_library() -> None:
    function = helper.make_function(
        "own", "Same", ["a"], ["b"], [helper.make_node("Identity", ["a"], ["b"])], [helper.make_opsetid("", 21)]
    )
    node = helper.make_node("Same", ["x"], ["y"], domain="own")
    assert messages("model.onnx", model_with(node, opsets=("", "own"), functions=[function])) == ""


BAD_SAFETENSORS = {
    "hole": (safetensors({"a": tensor(4, 8, [1])}, bytes(8)), "at byte 0"),
    "tail": (safetensors({"a": tensor(0, 4, [1])}, bytes(9)), "5 bytes after"),
    "size": (safetensors({"a": tensor(0, 4, [2])}, bytes(4)), "do not match its shape"),
    "none": (safetensors({}), "no tensor"),
    "header": (b"\xff" * 16, "longer than the file"),
    "json": ((8).to_bytes(8, "little") + b"{{{{{{{{", "not JSON"),
    "datatype": (safetensors({"a": {**tensor(0, 4, [1]), "dtype": "OBJECT"}}, bytes(4)), "unknown datatype"),
}


@pytest.mark.parametrize("kind", BAD_SAFETENSORS)
def test_damaged_safetensors_are_refused(kind: str) -> None:
    content, reason = BAD_SAFETENSORS[kind]
    assert reason in messages("model.safetensors", content)


@given(st.binary(max_size=300))
def test_random_bytes_are_refused_and_never_an_error(content: bytes) -> None:
    assert content_findings("model.onnx", content)
    assert content_findings("model.safetensors", content)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_changed_byte_is_never_an_error(place: int, value: int) -> None:
    content = bytearray(onnx_bytes())
    content[place % len(content)] = value
    assert all(finding.rule == "model-format" for finding in content_findings("model.onnx", bytes(content)))


@pytest.mark.parametrize("name", ["model.pkl", "model.pt", "weights.joblib", "run.sh", "model.h5", "Model.onnx"])
def test_other_names_are_refused(name: str) -> None:
    assert name_findings([name, "model.onnx", "model.json"])


def test_one_file_of_weights_is_required() -> None:
    assert name_findings(["model.onnx", "model.json", "model.sig"]) == []
    assert "has neither" in name_findings(["model.json"])[0].message
    assert "model.onnx and model.safetensors" in name_findings(["model.onnx", "model.safetensors"])[0].message
