"""Training example with MLflow: several jobs at the same time do not disturb one another."""

import sys
from pathlib import Path

import pytest

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


def test_two_first_jobs_of_an_experiment_both_have_a_run_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setattr(sys, "path", [str(DIGITS), *sys.path])
    from tracking import Tracker

    original = MlflowClient.get_experiment_by_name

    def answered_late(client: MlflowClient, name: str) -> object:
        """Return the answer from before the other job created the experiment."""
        experiment = original(client, name)
        if experiment is None:
            client.create_experiment(name)
        return experiment

    monkeypatch.setattr(MlflowClient, "get_experiment_by_name", answered_late)
    tracker = Tracker("digits", "digits-1", {"landbridge.run": "test-1"}, print)
    assert tracker.close("FINISHED")
    client = MlflowClient()
    experiment = client.get_experiment_by_name("digits")
    assert experiment is not None
    assert [run.info.run_id for run in client.search_runs([experiment.experiment_id])] == [tracker.run_id]
