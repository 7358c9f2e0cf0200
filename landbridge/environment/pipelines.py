"""Environment key `mlops.pipelines`: the service that submits the steps of pipelines."""

from collections.abc import Mapping

from pydantic import Field

from landbridge.environment.base import AbsolutePath, Model, Word


class Pipelines(Model):
    """Service of pipelines on the MLflow host. The users of scheduler.accounts are the owners of pipelines."""

    datasets: Mapping[Word, AbsolutePath] = Field(
        default={},
        description="folders of datasets on the MLflow host by data class, in which a new version FOLDER/NAME/VERSION "
        "starts a run; default: those of storage.staging, if its mount is in the homes",
    )
    interval_seconds: int = Field(default=15, ge=5, le=3600, description="time between two passes of the service")
    live_runs: int = Field(default=100, ge=1, le=10_000, description="runs of one owner at the same time")
