"""Comparison of two answers to one request: the decision of a row taken at random, and the distance of each output. Pure.

One row of a request counts, so that requests, and not the rows of a large one, are the independent trials of the canary's test.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from landbridge.serving.server.protocol import InputTensor, RequestRefusal, flat

_FLOATS = ("FP16", "FP32", "FP64")
#: Values of an output that are compared for its distance: the thread of copies shares the interpreter with predictions. Landbridge's choice.
_MOST_VALUES = 4096


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Tolerance of numbers: b agrees with a if |a - b| <= absolute + relative |a|.

    With `is_class` a row of several numbers agrees if its greatest value is at the same place, whatever the numbers are.
    """

    absolute: float
    relative: float
    is_class: bool = True


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """Result: whether the row agrees in every output, and the largest difference of each output of numbers."""

    agreed: bool
    differences: Mapping[str, float] = field(default_factory=dict)


def compared(
    outputs: Sequence[InputTensor], answer: bytes, tolerance: Tolerance, pick: Callable[[int], int]
) -> ComparedAnswer:
    """Return the comparison with an answer of the Open Inference protocol. `pick` returns a row below its argument.

    An answer with other outputs, datatypes or shapes differs, and has no distances.
    """
    others = _outputs(answer)
    if others is None or others.keys() != {output.name for output in outputs}:
        return ComparedAnswer(False)
    agreed, differences, rows = True, dict[str, float](), 0
    row = 0
    for output in outputs:
        datatype, shape, data = others[output.name]
        if (datatype, shape) != (output.datatype, output.shape) or len(data) != len(output.data):
            return ComparedAnswer(False)
        count = output.shape[0] if output.shape else 1
        if count != rows:
            rows, row = count, pick(count) if count else 0
        width = len(data) // count if count else 0
        part = slice(row * width, (row + 1) * width)
        agreed = agreed and _agrees(output.datatype, output.data[part], data[part], tolerance)
        if output.datatype in _FLOATS:
            differences[output.name] = _distance(output.data[:_MOST_VALUES], data[:_MOST_VALUES])
    return ComparedAnswer(agreed, differences)


def _outputs(answer: bytes) -> dict[str, tuple[str, tuple[int, ...], list[Any]]] | None:
    try:
        rows = json.loads(answer)["outputs"]
        return {str(row["name"]): (str(row["datatype"]), tuple(row["shape"]), flat(row["data"])) for row in rows}
    except (ValueError, KeyError, TypeError, RequestRefusal):
        return None


def _agrees(datatype: str, a: Sequence[Any], b: Sequence[Any], tolerance: Tolerance) -> bool:
    if datatype not in _FLOATS:
        return list(a) == list(b)
    if any(first is None or second is None for first, second in zip(a, b, strict=True)):
        return list(a) == list(b)
    if tolerance.is_class and len(a) > 1:
        return max(range(len(a)), key=a.__getitem__) == max(range(len(b)), key=b.__getitem__)
    bounds = (tolerance.absolute + tolerance.relative * abs(first) for first in a)
    return all(abs(first - second) <= bound for first, second, bound in zip(a, b, bounds, strict=True))


def _distance(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Return the largest difference; infinite if one of two values is not a number of JSON."""
    pairs = zip(a, b, strict=True)
    return max(
        (0.0 if x == y else abs(x - y) if x is not None and y is not None else math.inf for x, y in pairs), default=0.0
    )
