"""Metrics of nodes in AWS: a real Prometheus finds the emulated instances, and reads an exporter with the certificate that a node read."""

import crypt
import grp
import json
import os
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.metrics_targets import refresh
from landbridge.burst.aws.publish_certificate import published_value
from landbridge.plan.observability.cloud_targets import certificate_name
from landbridge.plan.roles.prometheus import monitoring_variables
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.ports import free_port
from tests.unit.aws_emulator.conftest import Stack, client_of
from tests.unit.aws_emulator.instances.test_emulator_launch import run
from tests.unit.core.samples import ROOT, environment
from tests.unit.observability.debian_programs import debian_program
from tests.unit.observability.test_metrics_contract import page, running
from tests.unit.served_models.site_ca import write_certificates

PROGRAM = ROOT / "ansible/roles/cloud_metrics/files/landbridge-node-metrics"
SECRET, PASSWORD = "test/node-metrics", "password-of-scrapes"
SITE = environment({("onprem", "services", "monitoring"): "mlops01"})


def launched(ec2: Any, stack: Stack, nodes: str, count: int, **tags: str) -> list[str]:
    values = {"landbridge:cluster": "test", "landbridge:pool": "p5", "landbridge:nodes": nodes, **tags}
    specification = {
        "ResourceType": "instance",
        "Tags": [{"Key": key, "Value": value} for key, value in values.items()],
    }
    answer = run(ec2, stack, count, count, TagSpecifications=[specification])
    return [instance["InstanceId"] for instance in answer["Instances"]]


def published(cloud: EmulatorProcess, folder: Path) -> Path:
    """Publish a certificate of the planned name in the secret; return the file of its CA."""
    name = certificate_name(SITE)
    authority, host = write_certificates(folder, name, (name,))
    digest = crypt.crypt(PASSWORD, crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16))
    value = published_value(
        json.dumps({"account": "prometheus", "hash": digest}), host.read_text(), authority.read_text()
    )
    client_of(cloud, "secretsmanager").create_secret(Name=SECRET, SecretString=value.decode())
    return authority


def read_at_boot(cloud: EmulatorProcess, folder: Path) -> Path:
    """Run the boot program of a node; return the folder with certificate and account."""
    metrics = folder / "metrics"
    settings = {
        "region": "us-east-1",
        "endpoint": cloud.endpoint,
        "fips": False,
        "secret": SECRET,
        "folder": str(metrics),
        "group": grp.getgrgid(os.getgid()).gr_name,
    }
    (folder / "node-metrics.json").write_text(json.dumps(settings))
    variables = {**os.environ, "AWS_SHARED_CREDENTIALS_FILE": str(cloud.operator_credentials)}
    command = [sys.executable, str(PROGRAM), str(folder / "node-metrics.json")]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return metrics


def planned_scrape(folder: Path, targets: Path, authority: Path, exporter: str) -> dict[str, Any]:
    """Return prometheus.yml with the planned scrape of nodes in AWS, whose addresses lead to one exporter here."""
    jobs = {job["job_name"]: job for job in monitoring_variables(SITE)["prometheus_settings"]["scrape_configs"]}
    job = json.loads(json.dumps(jobs["aws-node"]).replace("/var/lib/landbridge-discovery", str(targets)))
    job["tls_config"]["ca_file"] = str(authority)
    (folder / "password").write_text(PASSWORD)
    job["basic_auth"]["password_file"] = str(folder / "password")
    job["relabel_configs"].append({"target_label": "__address__", "replacement": exporter})
    return {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [job]}


def until(read: Callable[[], Any], wanted: Any) -> None:
    deadline = time.monotonic() + 60
    while (value := read()) != wanted:
        assert time.monotonic() < deadline, value
        time.sleep(0.05)


def test_a_node_in_aws_appears_and_vanishes_as_a_target(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, metrics = published(cloud, tmp_path), read_at_boot(cloud, tmp_path)
    assert {file.name: file.stat().st_mode & 0o777 for file in metrics.iterdir()} == {
        "ca.pem": 0o640,
        "host.pem": 0o640,
        "web.yml": 0o640,
    }
    assert metrics.stat().st_mode & 0o777 == 0o750 and PASSWORD not in (metrics / "web.yml").read_text()
    discovery = monitoring_variables(SITE)["prometheus_discovery"] | {"endpoint": cloud.endpoint}
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(cloud.operator_credentials))
    targets = tmp_path / "targets"
    targets.mkdir()
    _, second = launched(ec2, stack, "p5-[1-2]", 2)
    launched(ec2, stack, "p5-9", 1, **{"landbridge:cluster": "other"})
    refresh(discovery, targets)
    assert {path.name for path in targets.iterdir()} == {"node.json", "dcgm.json"}
    exporter, prometheus = (f"127.0.0.1:{free_port()}" for _ in range(2))
    (tmp_path / "prometheus.yml").write_text(json.dumps(planned_scrape(tmp_path, targets, authority, exporter)))
    query = f"http://{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': 'up'})}"

    def answering() -> list[tuple[str, ...]]:
        labels = ("job", "node", "site", "region", "pool", "instance_type", "market", "role")
        result = json.loads(page(query))["data"]["result"]
        return sorted((*(each["metric"].get(label, "") for label in labels), each["value"][1]) for each in result)

    row = ("aws", "us-east-1", "p5", "p5.48xlarge", "on-demand", "slurm_node", "1")
    files = [f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/series"]
    web = [f"--web.config.file={metrics}/web.yml", "--collector.disable-defaults", "--collector.loadavg"]
    node_exporter = debian_program("prometheus-node-exporter", "prometheus-node-exporter")
    with (
        running(node_exporter, f"--web.listen-address={exporter}", *web),
        running(debian_program("prometheus", "prometheus"), *files, f"--web.listen-address={prometheus}"),
    ):
        page(f"http://{prometheus}/-/ready")
        until(answering, [("node", "p5-1", *row), ("node", "p5-2", *row)])
        ec2.terminate_instances(InstanceIds=[second])
        refresh(discovery, targets)
        until(answering, [("node", "p5-1", *row)])
