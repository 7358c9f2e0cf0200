"""Programs that write a host's own metrics: they run, and write exactly the metrics of the contract."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.plan.network.host_role import hosts
from landbridge.plan.roles.hosts.node_exporter import exporter_variables
from tests.unit.core.samples import ROOT, environment
from tests.unit.ops.netcheck import records

FILES = ROOT / "ansible/roles/node_exporter/files"
#: Two exporters have the metrics of their own process in common.
DATABASE = """# HELP go_goroutines Number of goroutines.
# TYPE go_goroutines gauge
go_goroutines 12
# HELP pg_up Whether the server answers.
# TYPE pg_up gauge
pg_up 1
# TYPE pg_stat_database_numbackends gauge
pg_stat_database_numbackends{datid="1",datname="mlflow {a}"} 3
pg_stat_database_numbackends_of_another 3
"""
CONNECTIONS = """list-conn event {{aws1 {{local_addrs=[198.51.100.10] remote_addrs=[198.51.100.20] version=IKEv2 reauth_time=0 \
rekey_time=25200 children {{aws1 {{mode=TUNNEL rekey_time=3000 local-ts=[0.0.0.0/0] remote-ts=[0.0.0.0/0]}}}}}}}}
{}list-conns reply {{}}
"""


class Pages(BaseHTTPRequestHandler):
    """Server on the loopback: metrics of a database, and a health page."""

    def do_GET(self) -> None:
        """Return a page, or status 503."""
        body = {"/metrics": DATABASE, "/health": "OK"}.get(self.path)
        self.send_response(503 if body is None else 200)
        self.end_headers()
        self.wfile.write((body or "").encode())

    def log_message(self, *words: Any) -> None:
        """Write no log."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


def samples(path: Path) -> dict[str, float]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def names(path: Path) -> set[str]:
    return set(re.findall(r"^# TYPE (\S+)", path.read_text(), re.MULTILINE))


def test_metrics_of_servers_are_copied_by_the_contract_and_others_are_probed(server: str, tmp_path: Path) -> None:
    contract = sorted(metrics_contract().exporters["postgresql"].metrics)
    settings = {
        "certificates": {},
        "backups": {"slurm": f"{tmp_path}/*.gz"},
        "sources": {"postgresql": f"{server}/metrics", "mariadb": "http://127.0.0.1:9/metrics"},
        "metrics": {"postgresql": contract},
        "probes": {"mlflow": f"{server}/health", "mlflow-restricted": f"{server}/failing"},
        "authority": f"{tmp_path}/ca.pem",
    }
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    written = tmp_path / "host.prom"
    subprocess.run([FILES / "landbridge-host-metrics", tmp_path / "settings.json", written], check=True)
    values = samples(written)
    assert values['pg_stat_database_numbackends{datid="1",datname="mlflow {a}"}'] == 3 and values["pg_up"] == 1
    assert values['landbridge_source_up{source="postgresql"}'] == 1
    assert values['landbridge_source_up{source="mariadb"}'] == 0
    assert values['landbridge_probe_up{probe="mlflow"}'] == 1
    assert values['landbridge_probe_up{probe="mlflow-restricted"}'] == 0
    assert [name for name in values if name.startswith("landbridge_probe_seconds")] == [
        'landbridge_probe_seconds{probe="mlflow"}'
    ]
    assert not [name for name in values if name.startswith("go_") or "another" in name]
    families = {name for name in names(written) if name.startswith("landbridge_")}
    assert families == set(metrics_contract().exporters["host"].metrics)


def test_the_role_gives_the_program_every_setting() -> None:
    text = (ROOT / "ansible/roles/node_exporter/vars/main.yml").read_text()
    read = set(re.findall(r'settings\["(\w+)"\]', (FILES / "landbridge-host-metrics").read_text()))
    assert read == set(re.findall(r"^  (\w+):", text, re.MULTILINE))


def recorded(fault: str = "") -> dict[str, str]:
    """Return the output of swanctl and vtysh on a gateway that netcheck recorded, healthy or with a fault."""
    expected = records.expectations()
    every = records.broken(expected, fault) if fault else records.healthy(expected)
    programs = every[records.GATEWAY].data["programs"]
    return {key: programs[key]["out"] for key in ("sas", "neighbors")}


def gateway(folder: Path, **outputs: str) -> dict[str, float]:
    """Run the program with programs that print these outputs, and return its samples."""
    for key, text in outputs.items():
        (folder / key).write_text(text)
    (folder / "swanctl").write_text(
        f'#!/bin/sh\n[ "$1" = --list-conns ] && exec cat {folder}/connections\nexec cat {folder}/sas\n'
    )
    (folder / "vtysh").write_text(f"#!/bin/sh\nexec cat {folder}/neighbors\n")
    for name in ("swanctl", "vtysh"):
        (folder / name).chmod(0o755)
    written = folder / "gateway.prom"
    program = FILES / "landbridge-gateway-metrics"
    subprocess.run([program, written], check=True, env={"PATH": f"{folder}:/usr/bin:/bin"})
    assert names(written) == set(metrics_contract().exporters["gateway"].metrics)
    return samples(written)


def test_tunnels_and_sessions_of_a_gateway(tmp_path: Path) -> None:
    second = "list-conn event {aws2 {local_addrs=[198.51.100.10] remote_addrs=[198.51.100.30] version=IKEv2}}\n"
    values = gateway(tmp_path, connections=CONNECTIONS.format(second), **recorded())
    assert values['landbridge_tunnel_up{tunnel="aws1"}'] == 1 and values['landbridge_tunnel_up{tunnel="aws2"}'] == 0
    assert values['landbridge_bgp_session_up{neighbor="169.254.10.1"}'] == 1
    assert values['landbridge_bgp_accepted_prefixes{neighbor="169.254.10.1"}'] >= 1
    down = gateway(tmp_path, connections=CONNECTIONS.format(""), **recorded("bgp-down"))
    assert down['landbridge_tunnel_up{tunnel="aws1"}'] == 1
    assert down['landbridge_bgp_session_up{neighbor="169.254.10.1"}'] == 0


@pytest.mark.parametrize("fault", ["ike-no-answer", "authentication-failed"])
def test_a_tunnel_without_keys_is_down(fault: str, tmp_path: Path) -> None:
    values = gateway(tmp_path, connections=CONNECTIONS.format(""), **recorded(fault))
    assert values['landbridge_tunnel_up{tunnel="aws1"}'] == 0


def test_a_list_that_ends_early_is_no_tunnel_that_is_down(tmp_path: Path) -> None:
    texts = recorded()
    values = gateway(tmp_path, connections=CONNECTIONS.format(""), sas=texts["sas"][:80], neighbors="% no bgp")
    assert values['landbridge_gateway_source_up{program="strongswan"}'] == 0
    assert values['landbridge_gateway_source_up{program="frr"}'] == 0
    assert not [sample for sample in values if "tunnel" in sample or "session" in sample]


def test_each_host_has_the_metrics_of_its_parts() -> None:
    site = environment({("onprem", "services", "monitoring"): "mlops01"})
    variables = {host.name: exporter_variables(site, host) for host in hosts(site)}
    roles = {host.name: host.groups for host in hosts(site)}
    for name, chosen in variables.items():
        assert (
            ("database_exporter_postgresql" in chosen)
            == ("mlflow" in roles[name])
            == bool(chosen["node_exporter_probes"])
        )
        assert ("database_exporter_mariadb" in chosen) == ("slurm_database" in roles[name])
        assert chosen["node_exporter_gateway"] == ("site_gateway" in roles[name])
        assert set(chosen["node_exporter_source_metrics"]) == set(chosen["node_exporter_sources"])
    assert variables["mlops01"]["node_exporter_sources"]["postgresql"] == "http://127.0.0.1:9187/metrics"
    assert any("slurm" in chosen["node_exporter_backups"] for chosen in variables.values())
