"""Values of requests and answers for the distributions of drift: features of the manifest's reference, and confidence. Pure."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from landbridge.serving.server.protocol import InferRequest, InputTensor

#: Features of one model version that have a histogram.
_MOST_FEATURES = 128
_COLUMN = re.compile(r"^(?P<input>.+?)(?:\[(?P<column>\d+)\])?$")


def feature_bounds(reference: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Return the inner edges of each feature's bins in a reference: `{"features": {"x[3]": {"edges": [...]}}}`."""
    features = reference.get("features")
    bounds: dict[str, tuple[float, ...]] = {}
    for name, form in features.items() if isinstance(features, Mapping) else ():
        edges = form.get("edges") if isinstance(form, Mapping) else None
        if isinstance(edges, list) and edges and all(type(edge) in (int, float) for edge in edges):
            bounds[_label(str(name))] = tuple(sorted({float(edge) for edge in edges if math.isfinite(edge)}))
    return dict(list(bounds.items())[:_MOST_FEATURES])


def feature_values(request: InferRequest, names: Iterable[str]) -> dict[str, Sequence[float]]:
    """Return the values of these features in a request: `x` are all of input x, `x[3]` those of its column 3."""
    inputs = {tensor.name: tensor for tensor in request.inputs}
    values: dict[str, Sequence[float]] = {}
    for name in names:
        match = _COLUMN.match(name)
        tensor = inputs.get(match["input"]) if match else None
        if match is None or tensor is None:
            continue
        if match["column"] is None:
            values[name] = [float(value) for value in tensor.data]
        elif tensor.shape and int(match["column"]) < tensor.shape[-1]:
            values[name] = [float(value) for value in tensor.data[int(match["column"]) :: tensor.shape[-1]]]
    return values


def confidences(outputs: Sequence[InputTensor]) -> list[float]:
    """Return the greatest value of each row of the first output with floating-point numbers: the confidence of a class."""
    output = next((output for output in outputs if output.datatype in ("FP16", "FP32", "FP64")), None)
    if output is None or len(output.shape) < 2:
        return []
    width = output.shape[-1]
    rows = (output.data[start : start + width] for start in range(0, len(output.data), width))
    return [max(row) for row in rows if row and all(value is not None for value in row)]


def _label(name: str) -> str:
    return re.sub(r'["\\\n]', "_", name)
