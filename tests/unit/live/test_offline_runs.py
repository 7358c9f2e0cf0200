"""Upload of runs that were recorded without a server, into MLflow's own application on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from mlflow import MlflowClient
from mlflow.entities import Metric
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.live.offline_runs import SOURCE_TAG, chunks
from sandbox.demo.cluster import wait_for
from tests.unit.core.samples import ROOT
from tests.unit.models.conftest import server

ENVIRONMENT = ROOT / "stacks/Pulumi.hybrid.yaml"


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from server(tmp_path_factory.mktemp("tracking"))


def record(store: str, experiment: str, names: list[str], points: int = 3, status: str = "FINISHED") -> MlflowClient:
    """Record runs in a local store, as a job without a network does."""
    local = MlflowClient(tracking_uri=store)
    known = local.get_experiment_by_name(experiment)
    folder = None if store.startswith("file:") else f"{store.removeprefix('sqlite:///')}.artifacts"
    identity = known.experiment_id if known else local.create_experiment(experiment, folder)
    for at, name in enumerate(names):
        run = local.create_run(identity, start_time=1_000_000 + at, run_name=name).info.run_id
        local.log_param(run, "learning_rate", "0.1")
        local.set_tag(run, "landbridge.job_id", str(100 + at))
        metrics = [Metric("loss", 1 / (step + 1), 2_000_000 + step, step) for step in range(points)]
        for part in chunks(metrics, 1000):
            local.log_batch(run, metrics=part)
        local.log_text(run, f"weights of {name}", "model/weights.txt")
        if status != "RUNNING":
            local.set_terminated(run, status, 3_000_000 + at)
    return local


def upload(store: Path, uri: str, *words: str, code: int = 0) -> Result:
    words = ("runs", "upload", str(store), "--to", uri, "--file", str(ENVIRONMENT), *words)
    result = CliRunner().invoke(build(), list(words))
    assert result.exit_code == code, result.output
    return result


def at_server(uri: str, experiment: str) -> list[Any]:
    """Return the runs of an experiment in the order in which they were created."""
    client = MlflowClient(tracking_uri=uri)
    known = client.get_experiment_by_name(experiment)
    if known is None:
        return []
    return list(client.search_runs([known.experiment_id], order_by=["attributes.start_time ASC"]))


def test_a_run_has_its_times_metrics_parameters_tags_and_artifacts(uri: str, tmp_path: Path) -> None:
    local = record(f"sqlite:///{tmp_path}/mlflow.db", "whole", ["first", "second"], points=2100)
    printed = upload(tmp_path / "mlflow.db", uri, "--class", "internal").stdout
    assert printed.splitlines()[-1] == "2 uploaded, 0 there already, 0 not ended, 0 refused"
    client = MlflowClient(tracking_uri=uri)
    runs = at_server(uri, "whole")
    assert [run.info.run_name for run in runs] == ["first", "second"]
    for at, run in enumerate(runs):
        assert (run.info.status, run.info.start_time, run.info.end_time) == ("FINISHED", 1_000_000 + at, 3_000_000 + at)
        assert run.data.params == {"learning_rate": "0.1"}
        assert run.data.tags["landbridge.job_id"] == str(100 + at)
        source = run.data.tags[SOURCE_TAG]
        points = [
            [(each.step, each.timestamp, each.value) for each in place.get_metric_history(identity, "loss")]
            for place, identity in ((client, run.info.run_id), (local, source))
        ]
        assert sorted(points[0]) == sorted(points[1]) and len(points[0]) == 2100
        artifact = client.download_artifacts(run.info.run_id, "model/weights.txt", str(tmp_path))
        assert Path(artifact).read_text() == f"weights of {run.info.run_name}"


def test_a_second_upload_adds_later_runs_only(uri: str, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/mlflow.db"
    record(store, "again", ["first"])
    upload(tmp_path / "mlflow.db", uri, "--class", "internal")
    record(store, "again", ["second"])
    record(store, "again", ["third"], status="RUNNING")
    answer = json.loads(upload(tmp_path / "mlflow.db", uri, "--class", "internal", "--format", "json").stdout)
    assert [len(answer[key]) for key in ("uploaded", "present", "unfinished", "refused")] == [1, 1, 1, 0]
    assert sorted(run.info.run_name for run in at_server(uri, "again")) == ["first", "second"]


def test_a_folder_of_runs_is_a_store_too(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    record((tmp_path / "mlruns").as_uri(), "folder", ["first"], status="FAILED")
    upload(tmp_path / "mlruns", uri, "--class", "internal")
    (run,) = at_server(uri, "folder")
    assert (run.info.status, run.data.metrics["loss"]) == ("FAILED", 1 / 3)


def test_an_upload_that_was_killed_goes_on_and_no_run_is_there_twice(uri: str, tmp_path: Path) -> None:
    names = [f"run {number:02}" for number in range(12)]
    record(f"sqlite:///{tmp_path}/mlflow.db", "killed", names, points=40)
    words = ["runs", "upload", str(tmp_path / "mlflow.db"), "--to", uri, "--file", str(ENVIRONMENT)]
    command = [sys.executable, "-m", "landbridge.cli.main", *words, "--class", "internal"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        wait_for("a first run", lambda: at_server(uri, "killed"), bool, every=0.02)
        process.kill()
    upload(tmp_path / "mlflow.db", uri, "--class", "internal")
    runs = at_server(uri, "killed")
    assert [run.info.run_name for run in runs] == names
    client = MlflowClient(tracking_uri=uri)
    assert {len(client.get_metric_history(run.info.run_id, "loss")) for run in runs} == {40}
    assert {run.info.status for run in runs} == {"FINISHED"}


def test_a_run_whose_class_may_not_be_at_the_server_is_refused(uri: str, tmp_path: Path) -> None:
    local = record(f"sqlite:///{tmp_path}/mlflow.db", "refused", ["open", "closed"])
    _, closed = sorted(local.search_runs([local.get_experiment_by_name("refused").experiment_id]), key=started)
    local.set_tag(closed.info.run_id, "landbridge.data_class", "restricted")
    result = upload(tmp_path / "mlflow.db", uri, code=1)
    assert "it states no data class" in result.output
    assert "its data class is restricted, and the server is for internal" in result.output
    assert at_server(uri, "refused") == []
    upload(tmp_path / "mlflow.db", uri, "--class", "internal", code=1)
    assert [run.info.run_name for run in at_server(uri, "refused")] == ["open"]


def started(run: Any) -> int:
    return int(run.info.start_time)


def test_a_server_that_is_absent_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    record(f"sqlite:///{tmp_path}/mlflow.db", "absent", ["first"])
    result = upload(tmp_path / "mlflow.db", "http://127.0.0.1:9", "--class", "internal", code=2)
    assert "http://127.0.0.1:9: " in result.output and "Traceback" not in result.output


def test_parts_have_every_entry_once() -> None:
    assert [list(part) for part in chunks(range(5), 2)] == [[0, 1], [2, 3], [4]]
    assert list(chunks([], 2)) == []
