"""Values of requests and answers for the distributions of drift: features of the manifest's reference, and confidence. Pure."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from landbridge.models.drift.reference import SliceColumn, parse_slice_column
from landbridge.serving.server.protocol import InferRequest, InputTensor

#: Features of one model version that have a histogram.
_MOST_FEATURES = 128
#: Slices of requests, and histograms of features over all slices: each has a dozen series in Prometheus. Landbridge's choice.
_MOST_SLICES, _MOST_SLICED = 8, 256
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
    """Return the values of these features in a request; `x`: all of input x; `x[3]`: the values of its column 3."""
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


def slice_column(reference: Mapping[str, Any], bounds: Mapping[str, Sequence[float]]) -> SliceColumn | None:
    """Return the column of slices of a reference; None without one, for another form, and for too many slices."""
    try:
        column = parse_slice_column(reference.get("slice_by"))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return column if column is not None and bounds and len(column.names) <= _MOST_SLICES else None


def sliced_bounds(
    column: SliceColumn | None, bounds: Mapping[str, Sequence[float]]
) -> dict[tuple[str, str], Sequence[float]]:
    """Return the bounds of each histogram by slice and feature, of as many features as there is room for."""
    names = column.names if column is not None else ()
    features = list(bounds.items())[: _MOST_SLICED // max(1, len(names))]
    return {(_label(name), feature): edges for name in names for feature, edges in features}


def sliced_values(
    request: InferRequest, column: SliceColumn | None, values: Mapping[str, Sequence[float]]
) -> dict[tuple[str, str], list[float]]:
    """Return the values by slice and feature: each row is in the slice of its value in the column."""
    if column is None:
        return {}
    places = [
        _label(column.slice_of(value)) for value in feature_values(request, [column.column]).get(column.column, ())
    ]
    sliced: dict[tuple[str, str], list[float]] = {}
    for feature, of_rows in values.items():
        # A feature without a column has several values in a row.
        for place, value in zip(places, of_rows, strict=True) if len(of_rows) == len(places) else ():
            sliced.setdefault((place, feature), []).append(value)
    return sliced


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
