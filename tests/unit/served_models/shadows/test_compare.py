"""Comparison of the answers of two versions to one request."""

import json
from typing import Any

import pytest

from landbridge.serving.server.compare import Tolerance, compared
from landbridge.serving.server.protocol import InputTensor

CLASSES, NUMBERS = Tolerance(0.001, 0.0), Tolerance(0.001, 0.1, is_class=False)


def output(data: list[Any], shape: tuple[int, ...], name: str = "y", datatype: str = "FP32") -> InputTensor:
    return InputTensor(name, datatype, shape, data)


def answer(*outputs: InputTensor) -> bytes:
    rows = [{"name": each.name, "datatype": each.datatype, "shape": each.shape, "data": each.data} for each in outputs]
    return json.dumps({"outputs": rows}).encode()


@pytest.mark.parametrize(
    ("a", "b", "tolerance", "agreed", "difference"),
    [
        ([0.9, 0.1], [0.6, 0.4], CLASSES, True, 0.3),
        ([0.9, 0.1], [0.4, 0.6], CLASSES, False, 0.5),
        ([0.9, 0.1], [0.6, 0.4], NUMBERS, False, 0.3),
        ([0.9, 0.1], [0.85, 0.105], NUMBERS, True, 0.05),
        ([0.9, None], [0.9, None], CLASSES, True, 0.0),
        ([0.9, 0.1], [0.9, None], CLASSES, False, float("inf")),
    ],
)
def test_rows_of_numbers(a: list[Any], b: list[Any], tolerance: Tolerance, agreed: bool, difference: float) -> None:
    result = compared([output(a, (1, 2))], answer(output(b, (1, 2))), tolerance, lambda _: 0)
    assert (result.agreed, result.differences["y"]) == (agreed, pytest.approx(difference))


def test_one_row_counts_and_the_same_of_each_output() -> None:
    mine = [output([0.9, 0.1, 0.2, 0.8], (2, 2)), output([0, 1], (2,), "label", "INT64")]
    other = answer(output([0.9, 0.1, 0.8, 0.2], (2, 2)), output([0, 0], (2,), "label", "INT64"))
    assert [compared(mine, other, CLASSES, lambda _, row=row: row).agreed for row in (0, 1)] == [True, False]


@pytest.mark.parametrize(
    "other",
    [
        b"not JSON",
        b"[]",
        answer(output([0.9, 0.1], (2, 1))),
        answer(output([0.9, 0.1], (1, 2), "z")),
        answer(output([0.9, 0.1], (1, 2), datatype="FP64")),
        answer(output([0.9], (1, 2))),
    ],
)
def test_another_form_differs(other: bytes) -> None:
    result = compared([output([0.9, 0.1], (1, 2))], other, CLASSES, lambda _: 0)
    assert not result.agreed and not result.differences
