"""Manifest of a model folder: all reasons at once, and names that both registries take."""

import json
from typing import Any

import pytest

from landbridge.models.lineage import lineage_of_tags
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import model_name_fault, parse_model_reference
from tests.unit.models.folders import LINEAGE, manifest_of


def data() -> dict[str, Any]:
    return dict(json.loads(manifest_of(b"weights").to_json()))


def reasons(**changed: Any) -> str:
    result = ModelManifest.parse(json.dumps({**data(), **changed}))
    return "; ".join(finding.message for finding in result) if isinstance(result, list) else ""


def test_a_manifest_is_read_as_it_was_written() -> None:
    manifest = manifest_of(b"weights")
    assert ModelManifest.parse(manifest.to_json()) == manifest
    assert ModelManifest.parse(manifest.numbered("").to_json()) == manifest.numbered("")
    assert lineage_of_tags({**LINEAGE.tags(), "other": "x"}) == LINEAGE


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "schema": ({"schema": 2}, "schema 2; this program reads 1"),
    "unknown key": ({"code": "x"}, 'unknown key "code"'),
    "name": ({"name": "a_b"}, '"a_b" is not a name of a model'),
    "version": ({"version": "v1"}, "not the number of a model version"),
    "format": ({"format": "pickle"}, "onnx or safetensors"),
    "two files": ({"files": {**data()["files"], "x.py": {}}}, "files must have model.onnx and no other file"),
    "hash": ({"files": {"model.onnx": {"sha256": "0", "bytes": 1}}}, "not a SHA-256"),
    "bytes": ({"files": {"model.onnx": {"sha256": "0" * 64, "bytes": True}}}, "not a number of bytes"),
    "datatype": ({"inputs": [{"name": "x", "datatype": "float", "shape": [1]}]}, "unknown datatype"),
    "datatype of another kind": ({"inputs": [{"name": "x", "datatype": [], "shape": [1]}]}, "unknown datatype"),
    "shape": ({"inputs": [{"name": "x", "datatype": "FP32", "shape": [-2]}]}, "not a list of sizes"),
    "no output": ({"outputs": []}, "not a list with an element"),
    "lineage": ({"lineage": {"pipeline": "x"}}, "unknown keys: pipeline"),
    "lineage value": ({"lineage": {"run": 1}}, "not text: run"),
    "metrics": ({"metrics": {"accuracy": "high"}}, "not an object of numbers"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_manifest_has_its_reason(kind: str) -> None:
    changed, reason = WRONG[kind]
    assert reason in reasons(**changed)


def test_all_reasons_come_at_once() -> None:
    all_reasons = reasons(schema=2, name="a b", metrics=[], code=1)
    assert all(part in all_reasons for part in ("schema 2", '"a b"', "metrics", '"code"'))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema": NaN}', '{"schema": 1, "schema": 1}', '{"schema": 1e999}', "[" * 100_000]
)
def test_other_text_is_no_manifest(text: str) -> None:
    assert isinstance(ModelManifest.parse(text), list)


@pytest.mark.parametrize("name", ["digits", "a", "A-9", "a--b", "x" * 57])
def test_names_that_both_registries_take(name: str) -> None:
    assert model_name_fault(name) is None


@pytest.mark.parametrize("name", ["", "-a", "a-", "a_b", "a.b", "a/b", "x" * 58, "é", "a\n"])
def test_names_that_one_registry_refuses(name: str) -> None:
    assert model_name_fault(name) is not None


def test_references_of_versions_and_aliases() -> None:
    assert parse_model_reference("digits/3") == ("digits", "3")
    assert parse_model_reference("digits@champion") == ("digits", "@champion")
    for wrong in ("digits", "digits/x", "a_b/1"):
        with pytest.raises(ValueError):
            parse_model_reference(wrong)
