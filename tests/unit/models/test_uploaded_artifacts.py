"""Artifacts that an account adds to a version's run in MLflow, and their readers: the gateway's service, the archive's timer, operators."""

import shutil
from pathlib import Path

import pytest

from landbridge.live.models.registry import ModelRegistry
from tests.unit.models.conftest import Operator
from tests.unit.models.folders import onnx_bytes, write_folder


def client(operator: Operator) -> object:
    from mlflow import MlflowClient

    return MlflowClient(operator.uri, operator.uri)


def test_a_deep_folder_beside_the_files_is_refused_before_it_is_read(operator: Operator, tmp_path: Path) -> None:
    name = operator.publish(write_folder(tmp_path / "1", onnx_bytes(21.0), "nested", ""))
    version = ModelRegistry(operator.uri).version("nested", "1")
    (tmp_path / "x").write_text("x")
    client(operator).log_artifact(version.run, str(tmp_path / "x"), "model/" + "d/" * 900 + "d")  # type: ignore[attr-defined]
    for command in (("verify", name), ("fetch", name, tmp_path / "there")):
        refused = operator.run(*command, trust=True, code=1)
        assert "d/: a model folder has weights" in " ".join(refused.output.split()), refused.output


def test_files_without_room_on_the_disk_are_not_read(
    operator: Operator, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = operator.publish(write_folder(tmp_path / "1", onnx_bytes(22.0), "huge", ""))
    run = ModelRegistry(operator.uri).version("huge", "1").run
    (artifacts,) = tmp_path_factory.getbasetemp().glob(f"registry[0-9]*/artifacts/*/{run}/artifacts/model")
    size = shutil.disk_usage(tmp_path).total
    for file in ("model.onnx", "model.json"):
        with (artifacts / file).open("r+b") as stream:
            stream.truncate(size)
    refused = " ".join(operator.run("verify", name, trust=True, code=1).output.split())
    assert "huge/1: " in refused and "needs twice its size" in refused, refused
    second = operator.publish(write_folder(tmp_path / "2", onnx_bytes(23.0), "huge", ""))
    operator.promote(second, "staging")
    ModelRegistry(operator.uri).set_alias("huge", "champion", "1")
    refused = " ".join(operator.run("promote", second, "champion", "--reason", "x", trust=True, code=1).output.split())
    assert "the manifest of huge/1 has" in refused, refused
