"""Requests that are nested too deeply are the client's fault, and no failure of the server."""

import json

import pytest

from landbridge.models.manifest import ModelTensor
from landbridge.serving.server.protocol import RequestRefusal, parse_request

FORM = (ModelTensor("x", "FP32", (-1, 1)),)


def deep(depth: int) -> bytes:
    """Return a request whose data has one value in nested lists."""
    tensor = json.dumps({"name": "x", "datatype": "FP32", "shape": [1, 1], "data": "DATA"})
    return ('{"inputs": [' + tensor.replace('"DATA"', "[" * depth + "1.0" + "]" * depth) + "]}").encode()


@pytest.mark.parametrize("body", [b"[" * 200_000, deep(5_000), deep(900), deep(40)])
def test_triton_8773_a_nested_body_is_refused(body: bytes) -> None:
    with pytest.raises(RequestRefusal, match="nested"):
        parse_request(body, FORM, FORM)


def test_nested_rows_are_read() -> None:
    assert parse_request(deep(2), FORM, FORM).inputs[0].data == [1.0]
