"""Jobs of the demonstration: the digits example, submitted and awaited as a user, and its runs in MLflow."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from sandbox.demo.cluster import ClusterError, LabCluster, LabJob, job, submit, wait_for

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"


@dataclass(frozen=True)
class TrainingRun:
    """One MLflow run: parameters, last metrics, tags and the URI of its artifacts."""

    id: str
    status: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    artifact_uri: str


@dataclass(frozen=True)
class Researcher:
    """A user at the login host."""

    cluster: LabCluster
    environment: Environment
    name: str

    @property
    def login(self) -> str:
        return service_hosts(self.environment).logins[0]

    @property
    def controller(self) -> str:
        return service_hosts(self.environment).controllers[0]

    @property
    def folder(self) -> str:
        return f"{self.environment.storage.home.mount}/{self.name}/digits"

    def bring_example(self) -> None:
        """Copy the example into the user's home."""
        for path in sorted(EXAMPLE.iterdir()):
            if path.suffix in {".py", ".sbatch"}:
                self.cluster.put(self.login, f"{self.folder}/{path.name}", path.read_bytes(), self.name)

    def train(self, name: str, arguments: Sequence[str] = (), options: Sequence[str] = ()) -> int:
        """Run `sbatch digits.sbatch` in the example's folder; return the job's id."""
        words = ["--job-name", name, *options, "digits.sbatch", *arguments]
        return submit(self.cluster, self.login, self.name, self.folder, words)

    def state(self, number: int) -> LabJob:
        """Return the job's present state in slurmctld."""
        return job(self.cluster, self.controller, number)

    def finish(self, number: int) -> LabJob:
        """Wait until the job has ended. Raise ClusterError unless it is COMPLETED. New output counts as progress."""

        def observe() -> tuple[LabJob, str]:
            return self.state(number), self.output(number)

        def nodes() -> str:
            return self.cluster.run(self.controller, "sinfo", "--Node", "--format=%N %T %E")

        ended, _ = wait_for(
            f"job {number} to end", observe, lambda observation: observation[0].finished, every=1, details=nodes
        )
        if ended.state != "COMPLETED":
            raise ClusterError(
                f"job {number} is {ended.state} ({ended.reason}); its output:\n{self.output(number, 300)}"
            )
        return ended

    def output(self, number: int, lines: int = 30) -> str:
        """Return the last lines of the job's output file; empty if the file does not exist yet."""
        file = f"{self.folder}/digits-{number}.out"
        return self.cluster.run(self.login, "sh", "-c", f"tail -n {lines} {file} 2>/dev/null || true", user=self.name)

    def runs(self) -> list[TrainingRun]:
        """Return all runs of MLflow, newest first, queried with the user's credentials."""
        experiments = self._query("experiments/search", {"max_results": 100}).get("experiments", [])
        ids = [experiment["experiment_id"] for experiment in experiments]
        runs = self._query("runs/search", {"experiment_ids": ids, "max_results": 200}).get("runs", [])
        return [_run(run) for run in runs]

    def run_of(self, number: int) -> TrainingRun:
        """Return the MLflow run of a Slurm job. Raise ClusterError if there is none."""
        for run in self.runs():
            if run.tags.get("landbridge.job_id") == str(number):
                return run
        raise ClusterError(f"MLflow has no run of job {number}")

    def _query(self, endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
        # Reads the user's ~/.mlflow/credentials on the login host: credentials never appear in a command line.
        program = f"""
import base64, configparser, json, os, ssl, sys, urllib.request
credentials = configparser.ConfigParser(); credentials.read(os.path.expanduser("~/.mlflow/credentials"))
login = credentials["mlflow"]
pair = login["mlflow_tracking_username"] + ":" + login["mlflow_tracking_password"]
body = base64.b64decode("{base64.b64encode(json.dumps(body).encode()).decode()}")
request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/{endpoint}", body)
request.add_header("Content-Type", "application/json")
request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
context = ssl.create_default_context(cafile=os.environ["MLFLOW_TRACKING_SERVER_CERT_PATH"])
sys.stdout.write(urllib.request.urlopen(request, timeout=30, context=context).read().decode())
"""
        return dict(json.loads(self.cluster.run(self.login, "python3", "-c", program, user=self.name)))


def _run(raw: Mapping[str, Any]) -> TrainingRun:
    info, data = raw["info"], raw.get("data", {})
    return TrainingRun(
        id=info["run_id"],
        status=info["status"],
        params={entry["key"]: entry["value"] for entry in data.get("params", [])},
        metrics={entry["key"]: entry["value"] for entry in data.get("metrics", [])},
        tags={entry["key"]: entry["value"] for entry in data.get("tags", [])},
        artifact_uri=info.get("artifact_uri", ""),
    )
