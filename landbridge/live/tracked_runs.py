"""Runs of jobs in an MLflow tracking server, and their tags. Source: MLflow's REST API, experiments/search, runs/search and runs/log-batch."""

import base64
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TIMEOUT_SECONDS = 60.0
PAGE = 1000
#: Tags that the training example and the documentation set on each run.
JOB_TAG, CLUSTER_TAG = "landbridge.job_id", "landbridge.cluster"


class TrackingError(Exception):
    """Request that the tracking server did not answer, or refused."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """Run of a Slurm job that has ended, with its tags."""

    id: str
    job: int
    tags: Mapping[str, str]


class RunServer:
    """MLflow tracking server at a URI, with the name and the password of an account if it requires one, and a workspace."""

    def __init__(
        self, uri: str, user: str | None, password: str | None, authority: str | None, workspace: str | None = None
    ) -> None:
        self._uri = uri.rstrip("/")
        self._headers = {"Content-Type": "application/json"}
        if user is not None and password is not None:
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {token}"
        if workspace:
            self._headers["X-MLFLOW-WORKSPACE"] = workspace
        self._tls = ssl.create_default_context(cafile=authority) if uri.startswith("https:") else None

    def ended_runs(self, cluster: str, since: float) -> Iterator[JobRun]:
        """Yield the runs of a cluster's jobs that ended after `since`."""
        experiments = [each["experiment_id"] for each in self._pages("experiments/search", "experiments", {})]
        if not experiments:
            return
        wanted = f"tags.`{CLUSTER_TAG}` = '{cluster}' AND attributes.end_time > {int(since * 1000)}"
        for run in self._pages("runs/search", "runs", {"experiment_ids": experiments, "filter": wanted}):
            tags = {tag["key"]: tag["value"] for tag in run["data"].get("tags", ())}
            if tags.get(JOB_TAG, "").isdigit() and run["info"].get("status") != "RUNNING":
                yield JobRun(run["info"]["run_id"], int(tags[JOB_TAG]), tags)

    def experiment_runs(self, cluster: str, name: str) -> Iterator[JobRun]:
        """Yield the ended runs of a cluster's jobs in an experiment. Raises TrackingError for an unknown one."""
        body = {"experiment_ids": [self._experiment(name)], "filter": f"tags.`{CLUSTER_TAG}` = '{cluster}'"}
        for run in self._pages("runs/search", "runs", body):
            tags = {tag["key"]: tag["value"] for tag in run["data"].get("tags", ())}
            if tags.get(JOB_TAG, "").isdigit() and run["info"].get("status") != "RUNNING":
                yield JobRun(run["info"]["run_id"], int(tags[JOB_TAG]), tags)

    def tag_experiment(self, name: str, tags: Mapping[str, str]) -> None:
        """Set tags of an experiment."""
        for key, value in tags.items():
            body = {"experiment_id": self._experiment(name), "key": key, "value": value}
            self._post("experiments/set-experiment-tag", body)

    def set_tags(self, run: str, tags: Mapping[str, str]) -> None:
        """Set tags of a run."""
        listed = [{"key": key, "value": value} for key, value in tags.items()]
        self._post("runs/log-batch", {"run_id": run, "tags": listed})

    def _experiment(self, name: str) -> str:
        """Return the id of an experiment."""
        for each in self._pages("experiments/search", "experiments", {}):
            if each["name"] == name:
                return str(each["experiment_id"])
        raise TrackingError(f"there is no experiment {name}")

    def _pages(self, method: str, name: str, body: Mapping[str, Any]) -> Iterator[Any]:
        token = ""
        while True:
            page = {**body, "max_results": PAGE, **({"page_token": token} if token else {})}
            answer = self._post(method, page)
            yield from answer.get(name, ())
            token = answer.get("next_page_token", "")
            if not token:
                return

    def _post(self, method: str, body: Mapping[str, Any]) -> Any:
        url = f"{self._uri}/api/2.0/mlflow/{method}"
        request = urllib.request.Request(url, json.dumps(body).encode(), self._headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=self._tls) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise TrackingError(f"{method}: {error.code} {error.reason}") from None
        except (OSError, ValueError) as error:
            raise TrackingError(f"{self._uri}: {error}") from None
