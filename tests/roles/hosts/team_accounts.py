"""Client of the tests' MLflow: requests of an account in a workspace, and a run with a file."""

import base64
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.roles.hosts.team_server import PASSWORD

API, NEW_API, PROXY = "/api/2.0/mlflow", "/api/3.0/mlflow", "/api/2.0/mlflow-artifacts/artifacts"
HEADER = "X-MLFLOW-WORKSPACE"
#: Content of the runs and files of a team.
SECRET = "secret of the team"


@dataclass(frozen=True)
class TeamRun:
    """Run with a file: its ids, and the path of its artifacts in the proxy."""

    id: str
    experiment: str
    path: str


@dataclass(frozen=True)
class Account:
    """Account of an MLflow server, in a workspace; none: without the header."""

    uri: str
    name: str
    workspace: str = ""

    def send(self, method: str, path: str, body: Any = None, raw: bytes | None = None) -> tuple[int, str]:
        """Send a request; return the status and the answer."""
        login = base64.b64encode(f"{self.name}:{PASSWORD.format(self.name)}".encode()).decode()
        headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
        if self.workspace:
            headers[HEADER] = self.workspace
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.uri + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return int(response.status), response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def good(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request that must succeed; return the answer."""
        status, text = self.send(method, path, body)
        assert status == 200, f"{self.name} in {self.workspace}: {method} {path}: {status} {text}"
        result: dict[str, Any] = json.loads(text)
        return result

    def log(self, experiment: str) -> TeamRun:
        """Create an experiment and a run with a parameter and a file."""
        number = self.good("POST", f"{API}/experiments/create", {"name": experiment})["experiment_id"]
        info = self.good("POST", f"{API}/runs/create", {"experiment_id": number})["run"]["info"]
        self.good("POST", f"{API}/runs/log-parameter", {"run_id": info["run_id"], "key": "note", "value": SECRET})
        path = f"{number}/{info['run_id']}/artifacts"
        status, text = self.send("PUT", f"{PROXY}/{path}/note.txt", raw=SECRET.encode())
        assert status == 200, text
        return TeamRun(info["run_id"], number, path)
