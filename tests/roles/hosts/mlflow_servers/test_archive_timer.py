"""Pass of the timer that archives models, as a unit on the host of MLflow: role site_timers with the plan's variables, and the emulated S3."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from landbridge.certificates import certificates_in
from landbridge.environment import environment_from_config
from landbridge.models.signers import new_signer
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.roles.hosts.host_access import timer_host
from landbridge.plan.roles.hosts.site_timers import site_timers_variables
from sandbox.nspawn.network import netns
from tests.roles.ansible_run import Played, connection, play
from tests.roles.hosts.mlflow_servers.lab import (
    ADDRESS,
    CLOUD,
    ENDPOINT,
    HOST,
    INTERNAL,
    ONPREM,
    OPERATOR,
    OUTPUTS,
    Tracking,
)
from tests.roles.hosts.mlflow_servers.lab import password as password_of
from tests.unit.models.folders import write_folder

pytestmark = [pytest.mark.lab, pytest.mark.long]
UNIT, TEXTFILES = "landbridge-timer-archive", "/var/lib/prometheus/node-exporter"
METRICS = f"{TEXTFILES}/{UNIT}.prom"
CONTENT: dict[str, Any] = {
    "owner": "a@example.org",
    "data_classes": {"internal": {"sites": ["onprem", "aws"]}, "restricted": {"sites": ["onprem"]}},
    "users": [{"name": "alice", "uid": 20001}],
    "onprem": {
        "cidr": str(ONPREM),
        "aws_credentials": "files",
        "nodes": [{"hosts": "dgx01", "platform": "dgx-h100", "address": "10.57.1.21", "rack": "r1"}],
        "driver": {"install": False},
        "gpu_tools": {"dcgm": False},
        "services": {
            "controller": [HOST],
            "login": [HOST],
            **dict.fromkeys(("database", "storage", "gateway", "mlops", "monitoring"), HOST),
        },
        "addresses": {HOST: ADDRESS},
    },
    "aws": {"cidr": str(CLOUD), "endpoints": dict.fromkeys(("operator", "onprem", "cloud"), f"http://{ENDPOINT}")},
    "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
    "scheduler": {"accounts": {"vision": {"users": ["alice"], "data_class": "internal"}}},
    "storage": {"data_hub": {"classes": {"internal": {"replica_region": "us-west-2"}}}},
    "observability": {"timers": {}},
}


def converge(host: Tracking) -> Played:
    """Run the role with the timer of the archive alone: the other passes need Slurm."""
    environment = environment_from_config("test", "us-east-1", CONTENT)
    planned = site_timers_variables(environment, timer_host(environment))
    (timer,) = (each for each in planned["site_timers_timers"] if each["name"] == "archive")
    file = host.folder / "Pulumi.test.yaml"
    file.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": CONTENT}}, indent=1))
    variables = planned | {
        "site_timers_timers": [timer],
        "site_timers_hosts": {},
        "site_timers_servers": [
            {**server, "uri": f"https://{HOST}:{INTERNAL}"} for server in planned["site_timers_servers"][:1]
        ],
        "site_timers_passwords": {"mlflow": password_of("mlflow-admin")},
        "site_timers_archive_credentials": host.cloud.operator_credentials.read_text(),
        "site_timers_source": str(file),
        "site_timers_outputs": OUTPUTS,
        "site_timers_find_links": f"http://{OPERATOR}:3143/",
    }
    hosts = {HOST: {"ansible_host": ADDRESS, **connection(host.lab), **variables}}
    book = [{"hosts": HOST, "gather_facts": False, "roles": ["site_timers"]}]
    return play(host.lab, host.folder, book, {"all": {"hosts": hosts}}, timeout=900)


def model(host: Tracking, *words: str | Path) -> str:
    """Run `landbridge model` as the registry's administrator, in the lab's network."""
    authority = host.folder / "authority.pem"
    authority.write_text("\n".join(certificates_in(host.secrets.read()[AUTHORITY])))
    variables = {
        "MLFLOW_TRACKING_USERNAME": "admin",
        "MLFLOW_TRACKING_PASSWORD": password_of("mlflow-admin"),
        "MLFLOW_TRACKING_SERVER_CERT_PATH": str(authority),
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    program = Path(sys.executable).with_name("landbridge")
    line = ["nsenter", f"--net={netns.FOLDER / host.lab.netns}", program, "model", *words]
    done = subprocess.run(
        [*line, "--tracking-uri", f"https://{ADDRESS}:{INTERNAL}"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def passed(host: Tracking) -> tuple[str, str]:
    """Run the unit; return its result and its journal of this run."""
    host.run(f"systemctl start {UNIT} || true")
    result = host.run(f"systemctl show --value --property=Result {UNIT}")
    identity = host.run(f"systemctl show --value --property=InvocationID {UNIT}")
    return result, host.run(f"journalctl --quiet --no-pager --output=cat _SYSTEMD_INVOCATION_ID={identity}")


def archived(host: Tracking) -> list[str]:
    return sorted(key for key in host.objects() if key.startswith("models/"))


@pytest.fixture(scope="module")
def registered(host: Tracking) -> str:
    """Configure the timer, and register a signed version; return NAME/VERSION."""
    host.run(f"install -d {TEXTFILES}; getent hosts {HOST} || echo {ADDRESS} {HOST} >> /etc/hosts")
    converge(host).good()
    signer = host.folder / "signer.pem"
    signer.write_text(new_signer(host.secrets.read()[AUTHORITY], "test model signer", datetime.now(UTC)))
    signer.chmod(0o600)
    version = model(host, "register", write_folder(host.folder / "model")).split()[0]
    model(host, "sign", version, "--key", signer)
    return version


def test_the_pass_writes_the_signed_version_and_a_second_one_writes_nothing(host: Tracking, registered: str) -> None:
    assert converge(host).good().changed == {HOST: 0}
    result, journal = passed(host)
    assert result == "success" and "copied" in journal, journal
    first = archived(host)
    assert f"models/{registered}.tar" in first, (first, journal)
    assert 'completed_timestamp_seconds{timer="archive"}' in host.run(f"cat {METRICS}")
    result, journal = passed(host)
    assert result == "success" and "copied" not in journal and archived(host) == first, journal


def test_the_account_reads_neither_other_passwords_nor_the_files_of_mlflow(host: Tracking, registered: str) -> None:
    assert host.run(f"systemctl show --value --property=User {UNIT}") == "landbridge-archive"
    files = "/etc/landbridge/timers/mlflow-password /var/lib/mlflow-restricted/artifacts /etc/landbridge/tls/host.pem"
    readable = host.run(f"for f in {files}; do runuser -u landbridge-archive -- test -r $f && echo $f; done; true")
    assert readable == ""
    shown = host.run(f"systemctl show {UNIT}; systemctl cat {UNIT}")
    assert password_of("mlflow-admin") not in shown


def test_without_mlflow_the_first_pass_fails_and_leaves_a_series_for_the_alert(host: Tracking, registered: str) -> None:
    host.run(f"rm -f {METRICS}; systemctl stop mlflow")
    try:
        result, journal = passed(host)
        assert result == "exit-code", journal
        assert password_of("mlflow-admin") not in journal
        assert 'completed_timestamp_seconds{timer="archive"} 0' in host.run(f"cat {METRICS}")
    finally:
        host.run("systemctl start mlflow")
