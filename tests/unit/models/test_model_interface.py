"""Inputs and outputs of a new version against those of the champion: compared before the first request of a client."""

from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.live.models.registry import ModelRegistry
from landbridge.models.interface import interface_changes
from landbridge.models.manifest import ModelManifest, ModelTensor
from tests.unit.models.conftest import Operator
from tests.unit.models.folders import manifest_of, onnx_bytes, write_folder

CHAMPION = replace(manifest_of(b""), inputs=(ModelTensor("x", "FP32", (-1, 4)), ModelTensor("y", "INT64", (8,))))


@pytest.mark.parametrize(
    ("inputs", "outputs", "changes"),
    [
        ([("x", "FP32", (-1, 4)), ("y", "INT64", (8,))], [("y", "FP32", (-1, 1))], []),
        ([("y", "INT64", (-1,)), ("x", "FP32", (-1, -1))], [("y", "FP32", (9, 1)), ("z", "BYTES", (1,))], []),
        ([("x", "FP32", (-1, 5)), ("y", "INT64", (8,))], [("y", "FP32", (-1, 1))], ["input x has the shape [-1, 5]"]),
        ([("x", "FP32", (16, 4)), ("y", "INT64", (8,))], [("y", "FP32", (-1, 1))], ["input x has the shape [16, 4]"]),
        ([("x", "FP32", (4,)), ("y", "INT64", (8,))], [("y", "FP32", (-1, 1))], ["input x has the shape [4]"]),
        ([("x", "FP64", (-1, 4)), ("y", "INT64", (8,))], [("y", "FP32", (-1, 1))], ["input x is FP64, before FP32"]),
        ([("x", "FP32", (-1, 4)), ("n", "INT64", (8,))], [("y", "FP32", (-1, 1))], ["y is absent", "input n is new"]),
        ([("x", "FP32", (-1, 4)), ("y", "INT64", (8,))], [("y", "FP32", (-1, -1))], ["output y has the shape"]),
        ([("x", "FP32", (-1, 4)), ("y", "INT64", (8,))], [("p", "FP32", (-1, 1))], ["output y is absent"]),
    ],
)
def test_clients_see_names_datatypes_and_shapes(inputs: list[tuple], outputs: list[tuple], changes: list[str]) -> None:
    candidate = replace(
        CHAMPION,
        inputs=tuple(ModelTensor(*each) for each in inputs),
        outputs=tuple(ModelTensor(*each) for each in outputs),
    )
    changed = interface_changes(CHAMPION, candidate)
    assert len(changed) == len(changes) and all(text in each for text, each in zip(changes, changed, strict=True)), (
        changed
    )


def other_inputs(folder: Path, name: str) -> Path:
    """Write a model folder whose manifest has another input than the first version."""
    write_folder(folder, onnx_bytes(2.0), name, version="")
    manifest = ModelManifest.parse((folder / "model.json").read_bytes())
    assert isinstance(manifest, ModelManifest)
    changed = replace(manifest, inputs=(ModelTensor("x", "FP32", (-1, 2)),))
    (folder / "model.json").write_text(changed.to_json())
    return folder


def test_a_version_with_other_inputs_is_promoted_only_when_the_operator_says_so(
    operator: Operator, tmp_path: Path
) -> None:
    operator.promote(operator.publish(write_folder(tmp_path / "1", name="inputs", version="")), "staging", "champion")
    second = operator.publish(other_inputs(tmp_path / "2", "inputs"))
    words = ("promote", second, "staging", "--reason", "more features")
    refused = operator.run(*words, trust=True, code=1).stderr
    assert "the input x has the shape [-1, 2], before [-1, 1]" in refused and "--new-interface" in refused
    registry = ModelRegistry(operator.uri)
    assert registry.aliases("inputs")["staging"] == "1"
    operator.run(*words, "--new-interface", trust=True)
    assert registry.version("inputs", "2").tags["landbridge.new_interface"] == "1"
    # The canary promotes it: the operator's word holds for this champion.
    operator.promote(second, "champion")
    # The way back is open, and asks nothing.
    operator.run("rollback", "inputs", "--reason", "errors", trust=True)
    assert registry.aliases("inputs")["champion"] == "1"
    # The word was said for champion 1, and not for another one.
    third = operator.publish(write_folder(tmp_path / "3", onnx_bytes(3.0), name="inputs", version=""))
    operator.promote(third, "staging", "champion")
    operator.run("promote", second, "candidate", "--reason", "again", trust=True)
    assert "are not those of champion 3" in operator.run(*words, trust=True, code=1).stderr


def test_a_champion_whose_manifest_cannot_be_read_is_no_agreement(operator: Operator, tmp_path: Path) -> None:
    operator.promote(operator.publish(write_folder(tmp_path / "1", name="unread", version="")), "staging", "champion")
    registry = ModelRegistry(operator.uri)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/model.json").write_text("{}")
    registry.upload(registry.version("unread", "1"), tmp_path / "bad")
    second = operator.publish(write_folder(tmp_path / "2", onnx_bytes(2.0), name="unread", version=""))
    words = ("promote", second, "staging", "--reason", "x")
    assert "champion 1" in operator.run(*words, trust=True, code=1).stderr
    operator.run(*words, "--new-interface", trust=True)
