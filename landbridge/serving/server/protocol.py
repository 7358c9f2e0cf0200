"""Requests and answers of the Open Inference protocol, version 2, as values. Pure.

Source: KServe, "Open Inference Protocol (V2)", HTTP/REST; tensors are JSON, in row-major order.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.models.manifest import ModelTensor

#: Types of numpy by datatype.
NUMPY = {
    "BOOL": "bool",
    "UINT8": "uint8",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
}

#: Nested lists of a tensor's data: more dimensions than ONNX Runtime's kernels have. Landbridge's choice.
_DEEPEST = 32


class RequestRefusal(Exception):
    """Error: the request is refused with status 400; the message has the reason."""


@dataclass(frozen=True, slots=True)
class InputTensor:
    """Input of a request: name, datatype, shape and values in row-major order."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    data: Sequence[Any]


@dataclass(frozen=True, slots=True)
class InferRequest:
    """Request: its identifier (empty without one), the inputs, and the outputs that it asks for (empty: all)."""

    id: str
    inputs: tuple[InputTensor, ...]
    outputs: tuple[str, ...] = ()


def parse_request(body: bytes, inputs: Sequence[ModelTensor], outputs: Sequence[ModelTensor]) -> InferRequest:
    """Return the request. Raises RequestRefusal if it does not match the model's inputs and outputs."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise RequestRefusal("the body is not JSON, or is nested too deeply") from None
    if not isinstance(content, dict) or not isinstance(content.get("inputs"), list):
        raise RequestRefusal("inputs is missing")
    forms = {form.name: form for form in inputs}
    tensors = [_tensor(entry, forms) for entry in content["inputs"]]
    if sorted(tensor.name for tensor in tensors) != sorted(forms):
        raise RequestRefusal(f"the inputs are {', '.join(forms)}, each once")
    wanted = content.get("outputs") or []
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in wanted]
    known = {form.name for form in outputs}
    if any(name not in known for name in names):
        raise RequestRefusal(f"the outputs are {', '.join(sorted(known))}")
    return InferRequest(str(content.get("id") or ""), tuple(tensors), tuple(map(str, names)))


def answer(name: str, version: str, request_id: str, outputs: Sequence[InputTensor]) -> bytes:
    """Return the body of the answer."""
    rows = [
        {"name": out.name, "datatype": out.datatype, "shape": list(out.shape), "data": list(out.data)}
        for out in outputs
    ]
    content: dict[str, Any] = {"model_name": name, "model_version": version, "outputs": rows}
    if request_id:
        content["id"] = request_id
    return json.dumps(content).encode()


def metadata(name: str, version: str, inputs: Sequence[ModelTensor], outputs: Sequence[ModelTensor]) -> dict[str, Any]:
    """Return the description of a model: `GET /v2/models/NAME`."""
    return {
        "name": name,
        "versions": [version],
        "platform": "onnx_onnxv1",
        "inputs": [_row(form) for form in inputs],
        "outputs": [_row(form) for form in outputs],
    }


def _row(form: ModelTensor) -> Mapping[str, Any]:
    return {"name": form.name, "datatype": form.datatype, "shape": list(form.shape)}


def _tensor(entry: Any, forms: Mapping[str, ModelTensor]) -> InputTensor:
    if not isinstance(entry, dict) or entry.get("name") not in forms:
        raise RequestRefusal(f"the inputs are {', '.join(forms)}, each once")
    form = forms[entry["name"]]
    if entry.get("datatype") != form.datatype:
        raise RequestRefusal(f"{form.name} has the datatype {form.datatype}")
    shape: Any = entry.get("shape")
    sizes_match = (
        isinstance(shape, list)
        and len(shape) == len(form.shape)
        and all(type(size) is int and size > 0 for size in shape)
        and all(wanted in (-1, size) for size, wanted in zip(shape, form.shape, strict=True))
    )
    if not sizes_match:
        raise RequestRefusal(f"{form.name} has the shape {list(form.shape)}")
    data = flat(entry.get("data"))
    if len(data) != math.prod(shape):
        raise RequestRefusal(f"{form.name} has {len(data)} values, its shape {math.prod(shape)}")
    accepted = (bool,) if form.datatype == "BOOL" else (int,) if "INT" in form.datatype else (int, float)
    if not all(type(value) in accepted for value in data):
        raise RequestRefusal(f"a value of {form.name} is not {form.datatype}")
    return InputTensor(form.name, form.datatype, tuple(shape), data)


def flat(nested: Any) -> list[Any]:
    """Return nested lists as one list. Raises RequestRefusal."""
    if not isinstance(nested, list):
        raise RequestRefusal("data is not a list")
    data: list[Any] = nested
    depth = 0
    while data and isinstance(data[0], list):
        if not all(isinstance(row, list) for row in data):
            raise RequestRefusal("data has rows of different depth")
        if (depth := depth + 1) > _DEEPEST:
            raise RequestRefusal(f"data is nested more than {_DEEPEST} times")
        data = [value for row in data for value in row]
    return data
