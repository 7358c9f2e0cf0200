"""Drift by slice of a real model server: one slice moves, and the whole of the requests hides it."""

import json
from pathlib import Path

import numpy as np
import pytest

from landbridge.models.drift.reference import SliceColumn, parse_reference, reference_of
from landbridge.serving.canary_controller.exposition import samples
from landbridge.serving.canary_controller.windows import judged_window
from tests.unit.served_models.folders import new_key, sign, write_folder
from tests.unit.served_models.processes import ModelServer, model_server

BY_SITE = SliceColumn("x[0]", (0.5,))
SITES = ("x[0]<=0.5", "x[0]>0.5")


def rows(seed: int, count: int, shift: float = 0.0) -> np.ndarray:
    """Return rows of two sites, a tenth of them of the second one, in which x[1] is shifted."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3)).astype(np.float32)
    x[:, 0] = np.arange(count) % 10 == 0
    x[:, 1] += shift * x[:, 0]
    return x


def send(server: ModelServer, x: np.ndarray) -> str:
    """Send rows in requests of 25, and return the metrics afterwards."""
    for part in np.array_split(x, len(x) // 25):
        tensor = {"name": "x", "datatype": "FP32", "shape": list(part.shape), "data": part.ravel().tolist()}
        assert server.request("POST", "/v2/models/digits/infer", json.dumps({"inputs": [tensor]}))[0] == 200
    return str(server.request("GET", "/metrics")[1])


def test_the_slice_that_moved_is_named(tmp_path: Path) -> None:
    known = rows(1, 20_000)
    features = {f"x[{column}]": known[:, column].tolist() for column in (0, 1, 2)}
    reference = reference_of(features, slice_by=BY_SITE)
    assert tuple(reference.slices) == SITES
    assert parse_reference(json.loads(json.dumps(reference.to_dict()))) == reference
    key, trust = new_key(tmp_path)
    sign(write_folder(tmp_path / "1", "1", reference=reference.to_dict()), key)
    with model_server(tmp_path, "a", folder=str(tmp_path / "1"), trust=str(trust), max_request_bytes=65536) as server:
        first, same, moved = send(server, rows(2, 25)), send(server, rows(3, 4000)), send(server, rows(4, 4000, 1.5))
    judged = [
        judged_window(reference, samples(after), samples(before), "1")
        for before, after in ((first, same), (same, moved))
    ]
    assert not judged[0].reason
    assert [(each.slice, each.feature) for each in judged[1].drifted] == [(SITES[1], "x[1]")]
    assert {each.slice: each.rows for each in judged[1].features} == {"all": 4000, SITES[0]: 3600, SITES[1]: 400}


@pytest.mark.parametrize("edges", [[], [1.0, 1.0], [2.0, 1.0], [float("inf")]])
def test_edges_of_slices_rise(edges: list[float]) -> None:
    with pytest.raises(ValueError, match="finite and increasing"):
        SliceColumn("x[0]", tuple(edges))
