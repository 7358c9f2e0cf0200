"""Runs and experiments of a model's versions that were deleted in MLflow's pages."""

import json
from pathlib import Path

from landbridge.live.models.registry import ModelRegistry
from tests.unit.models.conftest import Operator
from tests.unit.models.folders import onnx_bytes, write_folder


def test_mlflow_6445_a_deleted_experiment_is_named_with_its_fix(operator: Operator, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    operator.publish(write_folder(tmp_path / "1", name="deleted", version=""))
    client = MlflowClient(operator.uri, operator.uri)
    experiment = client.get_experiment_by_name("models/deleted")
    client.delete_experiment(experiment.experiment_id)
    second = write_folder(tmp_path / "2", onnx_bytes(2.0), name="deleted", version="")
    refused = operator.run("register", second, code=2).stderr
    assert f"restore experiment {experiment.experiment_id} " in refused
    shown = operator.run("show", "deleted", code=1)
    assert "deleted/1     deleted" in shown.stdout and "mlflow runs restore" in shown.stderr
    assert json.loads(operator.run("show", "deleted", "--format", "json", code=1).stdout)["versions"][0]["deleted"]
    client.restore_experiment(experiment.experiment_id)
    assert operator.run("register", second).stdout.startswith("deleted/2 ")
    assert ModelRegistry(operator.uri).deleted_runs(ModelRegistry(operator.uri).versions("deleted")) == frozenset()
