"""Remote write: a real Prometheus signs its requests, and sends no series that names a part of a restricted class."""

import json
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.plan.roles.prometheus import monitoring_variables
from sandbox.ports import free_port
from tests.unit.core.samples import environment
from tests.unit.observability.debian_programs import debian_program
from tests.unit.observability.serving_sample import served
from tests.unit.observability.test_metrics_contract import page, running, types_of

URL = "https://aps-workspaces.eu-central-1.amazonaws.com/workspaces/ws-1/api/v1/remote_write"
SETTINGS = {"url": URL, "credentials_file": "/etc/aws", "profile": "metrics"}
SERIES = """landbridge_probe_up{probe="mlflow"} 1
landbridge_probe_up{probe="mlflow-restricted"} 1
pg_database_size_bytes{datname="mlflow_class_restricted"} 9
pg_database_size_bytes{datname="mlflow"} 9
landbridge_burst_spent_usd{account="clinic"} 5
landbridge_burst_spent_usd{account="vision"} 5
landbridge_model_ready{service="digits"} 1
landbridge_model_ready{service="trial"} 1
landbridge_model_drift_psi{model="digits"} 0.1
landbridge_model_drift_psi{model="trial-model"} 0.1
haproxy_backend_current_queue{proxy="model-digits"} 0
haproxy_backend_current_queue{proxy="model-trial"} 0
node_systemd_unit_state{name="landbridge-model-digits-a.service"} 1
node_systemd_unit_state{name="landbridge-model-trial-a.service"} 1
"""


def site() -> Environment:
    accounts = {
        "vision": {"users": ["alice"], "data_class": "internal"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
    }
    chosen = {("onprem", "services", "monitoring"): "mlops01", ("scheduler", "accounts"): accounts}
    trial = {"model": "trial-model", "data_class": "restricted", "port": 8510, "accounts": ["clinic"]}
    serving = {**served(), ("serving", "services", "trial"): trial}
    return environment({**chosen, **serving, ("observability", "remote_write"): SETTINGS})


class Workspace(BaseHTTPRequestHandler):
    """Metrics of a target, and a workspace that keeps the headers of a request and hands it to a Prometheus."""

    receiver = ""
    signatures: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Return the metrics of the target."""
        self._answer(200, SERIES.encode())

    def do_POST(self) -> None:
        """Hand a remote write to the receiver."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.signatures.append(self.headers.get("Authorization", ""))
        names = ("Content-Type", "Content-Encoding", "X-Prometheus-Remote-Write-Version")
        headers = {name: self.headers[name] for name in names}
        with urllib.request.urlopen(urllib.request.Request(self.receiver, body, headers), timeout=30) as answer:
            self._answer(answer.status, b"")

    def log_message(self, *words: Any) -> None:
        """Write no log."""

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def workspace() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Workspace) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_restricted_series_are_not_sent_and_requests_are_signed(
    workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = monitoring_variables(site())
    (destination,) = variables["prometheus_settings"]["remote_write"]
    assert destination["url"] == URL and destination["sigv4"] == {"region": "eu-central-1", "profile": "metrics"}
    credentials = tmp_path / "credentials"
    credentials.write_text("[metrics]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = example\n")
    assert variables["prometheus_environment"]["AWS_SHARED_CREDENTIALS_FILE"] == "/etc/aws"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_SDK_LOAD_CONFIG", variables["prometheus_environment"]["AWS_SDK_LOAD_CONFIG"])
    receiver, sender = (f"127.0.0.1:{free_port()}" for _ in range(2))
    Workspace.receiver = f"http://{receiver}/api/v1/write"
    Workspace.signatures = []
    configuration = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [workspace]}]}],
        "remote_write": [
            {**destination, "url": f"http://{workspace}/write", "queue_config": {"batch_send_deadline": "1s"}}
        ],
    }
    (tmp_path / "sender.yml").write_text(json.dumps(configuration))
    (tmp_path / "receiver.yml").write_text("")
    program = debian_program("prometheus", "prometheus")

    def arguments(name: str, address: str, *more: str) -> list[str]:
        files = [f"--config.file={tmp_path}/{name}.yml", f"--storage.tsdb.path={tmp_path}/{name}"]
        return [*files, f"--web.listen-address={address}", *more]

    with running(program, *arguments("receiver", receiver, "--web.enable-remote-write-receiver")):
        page(f"http://{receiver}/-/ready")
        with running(program, *arguments("sender", sender)):
            accounts = received(receiver, "landbridge_burst_spent_usd")
            assert accounts == [{"account": "vision"}]
            assert received(receiver, "landbridge_probe_up") == [{"probe": "mlflow"}]
            assert received(receiver, "pg_database_size_bytes") == [{"datname": "mlflow"}]
            assert received(receiver, "landbridge_model_ready") == [{"service": "digits"}]
            assert received(receiver, "landbridge_model_drift_psi") == [{"model": "digits"}]
            assert received(receiver, "haproxy_backend_current_queue") == [{"proxy": "model-digits"}]
            assert received(receiver, "node_systemd_unit_state") == [{"name": "landbridge-model-digits-a.service"}]
            families = types_of(page(f"http://{sender}/metrics"))
    metrics = metrics_contract().exporters["prometheus"].metrics
    assert {name for name in metrics if name.startswith("prometheus_remote_")} <= set(families)
    # Prometheus 2.42 of Debian 12 reads the credentials and sends requests without a signature; 2.53 of Debian 13 signs them.
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    release = re.search(r"version (\d+)\.(\d+)", done.stdout + done.stderr)
    assert release is not None
    signs = (int(release[1]), int(release[2])) >= (2, 53)
    assert {bool(signature) for signature in Workspace.signatures} == {signs}
    for signature in filter(None, Workspace.signatures):
        assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
        assert "/eu-central-1/aps/" in signature


def received(address: str, metric: str) -> list[dict[str, str]]:
    """Return the own labels of the metric's series that the receiver has, once it has one. All series come in one scrape."""
    query = f"http://{address}/api/v1/query?{urllib.parse.urlencode({'query': metric})}"
    deadline = time.monotonic() + 60
    while not (result := json.loads(page(query))["data"]["result"]):
        assert time.monotonic() < deadline, metric
        time.sleep(0.1)
    return [
        {key: value for key, value in each["metric"].items() if key not in ("__name__", "instance", "job")}
        for each in result
    ]


def test_without_the_key_nothing_leaves_the_site() -> None:
    variables = monitoring_variables(environment({("onprem", "services", "monitoring"): "mlops01"}))
    assert "remote_write" not in variables["prometheus_settings"] and variables["prometheus_environment"] == {}
