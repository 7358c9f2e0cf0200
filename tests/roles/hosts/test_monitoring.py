"""Prometheus, Alertmanager, exporters and log store of a host with databases: TLS, planned targets that are up, an alert for a fault, and shipped logs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import Environment, environment_from_config
from landbridge.ops.secrets.store import LocalFolder, describe_store
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.network.host_role import hosts
from landbridge.plan.roles.hosts.node_exporter import exporter_variables
from landbridge.plan.roles.log_store import log_files, log_shipper_variables, log_source, log_store_variables
from landbridge.plan.roles.prometheus import monitoring_variables, planned_targets
from landbridge.plan.site.site_tls import AUTHORITY_FILE, certificate_variables
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play

pytestmark = [pytest.mark.lab]
ONPREM, CLOUD = IPv4Network("10.58.0.0/16"), IPv4Network("10.98.0.0/16")
HOST, ADDRESS = "mon01", "10.58.0.17"
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS),))
PASSWORDS = {"prometheus": "lab-password-of-scrapes-0123456789", "operator": "lab-password-of-operators-0123456"}
ROLES = ["site_tls", "node_exporter", "database_exporter", "prometheus"]
LOG_ROLES = ["log_store", "log_shipper"]
#: The lab machine's clock and disk are those of the machine that runs the lab.
USUAL = {"ClockNotSynchronised", "DiskFilling", "DiskFull", "GatewayMetricsAbsent"}
#: Metrics that appear with the first event of their kind, or with a part that this host does not have.
WITH_EVENTS = {"ALERTS", "prometheus_rule_evaluation_failures_total"}
#: Waits until a query of Prometheus has the wanted value, or until Alertmanager has exactly the wanted alerts.
WAIT = """import base64, json, ssl, sys, time, urllib.parse, urllib.request
url, password, wanted, ignored = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
context = ssl.create_default_context(cafile="/etc/landbridge/tls/ca.pem")
request = urllib.request.Request(url, headers={"Authorization": "Basic " + base64.b64encode(f"operator:{password}".encode()).decode()})
deadline = time.monotonic() + 400
while True:
    with urllib.request.urlopen(request, timeout=30, context=context) as answer:
        data = json.load(answer)
    if isinstance(data, dict):
        seen = sorted([s["metric"].get("job", ""), s["value"][1]] for s in data["data"]["result"])
    else:
        seen = sorted({a["labels"]["alertname"] for a in data} - set(ignored))
    if wanted is None or seen == wanted:
        print(json.dumps(seen))
        break
    if time.monotonic() > deadline:
        sys.exit(f"{seen} instead of {wanted}")
    time.sleep(0.5)
"""


def site_environment(*, logs: bool = False) -> Environment:
    services = dict.fromkeys(("database", "storage", "gateway", "mlops", "monitoring"), HOST)
    services |= {"logs": HOST} if logs else {}
    content = {
        "owner": "a@example.org",
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [],
            "services": {**services, "controller": [HOST], "login": [HOST]},
            "addresses": {HOST: ADDRESS},
        },
        "aws": {"cidr": str(CLOUD)},
        # Without metrics of its own: this host has no slurmctld.
        "scheduler": {"slurm": {"version": "24.11"}},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
    }
    return environment_from_config("test", "us-east-1", content)


@dataclass(frozen=True)
class Monitored:
    """Host with the roles and the two database servers."""

    lab: Layout
    folder: Path

    def run(self, command: str) -> str:
        done = nodes.exec(self.lab, HOST, [command], timeout=600)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str, logs: bool = False) -> Played:
        """Run the roles with the plan's variables, but with scrapes each second and alerts without a waiting time."""
        chosen = site_environment(logs=logs)
        store = LocalFolder(self.folder / "secrets")
        store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        (host,) = hosts(chosen)
        variables = (
            log_store_variables(chosen)
            | log_shipper_variables(chosen)
            | monitoring_variables(chosen)
            | exporter_variables(chosen, host)
            | certificate_variables(chosen, HOST)
        )
        variables["prometheus_settings"]["global"] |= dict.fromkeys(
            ("scrape_interval", "scrape_timeout", "evaluation_interval"), "1s"
        )
        variables["prometheus_alertmanager_settings"]["route"]["group_wait"] = "1s"
        for group in variables["prometheus_rules"]["groups"]:
            for rule in group["rules"]:
                rule["for"] = "0s"
        variables |= {
            "ansible_host": ADDRESS,
            **connection(self.lab),
            "node_exporter_seconds": 2,
            # This host has neither MLflow nor a gateway's programs.
            "node_exporter_probes": {},
            "node_exporter_gateway": False,
            "node_exporter_password": PASSWORDS["prometheus"],
            "prometheus_scrape_password": PASSWORDS["prometheus"],
            "prometheus_operator_password": PASSWORDS["operator"],
            "site_tls_authority": "\n".join(certificates_in(store.read()[AUTHORITY])),
            "site_tls_store": describe_store(store),
        }
        book = [{"hosts": HOST, "gather_facts": False, "roles": LOG_ROLES if logs else ROLES}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {HOST: variables}}}, *words, timeout=600)

    def wait(self, url: str, wanted: Any = None, ignored: Any = ()) -> Any:
        words = [url, PASSWORDS["operator"], json.dumps(wanted), json.dumps(list(ignored))]
        return json.loads(self.run(f"python3 -c {quote(WAIT)} {' '.join(map(quote, words))}"))

    def status(
        self, port: int, account: str = "", password: str = "", path: str = "/metrics", host: str = ADDRESS
    ) -> str:
        login = f"--user {account}:{password}" if account else ""
        return self.run(
            f"curl --silent --output /dev/null --write-out '%{{http_code}}' --cacert {AUTHORITY_FILE} {login} https://{host}:{port}{path}"
        )


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    lab, folder = layout("landbridge-test-monitoring"), tmp_path_factory.mktemp("monitoring")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        monitored = Monitored(lab, folder)
        monitored.run(
            "apt-get --quiet --yes --no-install-recommends install postgresql mariadb-server; "
            "mkdir -p /var/backups/landbridge-mlflow /var/backups/landbridge-slurm; "
            "touch /var/backups/landbridge-slurm/slurm_acct_db-periodic-1.sql.gz; touch /var/backups/landbridge-mlflow/mlflow-periodic-1.dump"
        )
        monitored.converge().good()
        yield monitored
    finally:
        cleanup.down(lab)


def test_every_planned_target_is_up_and_a_fault_raises_exactly_its_alert(host: Monitored) -> None:
    jobs = sorted(target.job for target in planned_targets(site_environment()))
    host.wait(f"https://{ADDRESS}:9090/api/v1/query?query=up", [[job, "1"] for job in jobs])
    alerts = "https://127.0.0.1:9093/api/v2/alerts"
    host.wait(alerts, [], USUAL)
    host.run("systemd-run --quiet --unit=mlflow-broken.service false || true")
    host.wait(alerts, ["ServiceFailed"], USUAL)
    host.run("systemctl reset-failed mlflow-broken.service")
    host.wait(alerts, [], USUAL)


def test_metrics_need_tls_and_the_account(host: Monitored) -> None:
    scrape, operator = PASSWORDS["prometheus"], PASSWORDS["operator"]
    assert host.status(9100) == host.status(9090) == host.status(9093, host="127.0.0.1") == "401"
    assert host.status(9100, "prometheus", operator) == host.status(9090, "prometheus", scrape) == "401"
    assert host.status(9100, "prometheus", scrape) == host.status(9090, "operator", operator) == "200"
    plain = f"curl --silent --output /dev/null --write-out '%{{http_code}}' http://{ADDRESS}:9100/metrics"
    assert host.run(plain) == "400"
    # The passwords are in no process list, and in no file that others can read.
    listening = host.run("ss --listening --tcp --numeric --no-header | awk '{ print $4 }'").split()
    metrics_ports = {address for address in listening if address.rpartition(":")[2] in ("9090", "9093", "9094", "9100")}
    assert metrics_ports == {f"{ADDRESS}:9090", f"{ADDRESS}:9100", "127.0.0.1:9093"}
    for secret in (scrape, operator):
        assert secret not in host.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        assert (
            host.run(f"grep --recursive --files-with-matches --fixed-strings {secret} /etc || true").splitlines() != []
        )
    readable = host.run(
        "find /etc/prometheus /etc/landbridge/metrics -type f -perm /o+r -name '*password*' -o -name web.yml -perm /o+r"
    )
    assert readable == ""


def test_the_host_has_the_metrics_of_the_contract(host: Monitored) -> None:
    contract = metrics_contract()
    names = json.loads(
        host.run(
            f"curl --silent --cacert {AUTHORITY_FILE} --user operator:{PASSWORDS['operator']} "
            f"https://{ADDRESS}:9090/api/v1/label/__name__/values"
        )
    )["data"]
    for exporter in ("prometheus", "alertmanager", "host", "postgresql", "mariadb"):
        absent = ("landbridge_probe_", "prometheus_remote_")
        wanted = {name for name in contract.exporters[exporter].metrics if not name.startswith(absent)}
        assert wanted - WITH_EVENTS - set(names) == set()


def test_a_database_that_stops_raises_its_alert_and_the_exporters_have_no_password(host: Monitored) -> None:
    alerts = "https://127.0.0.1:9093/api/v2/alerts"
    host.run("systemctl stop mariadb")
    host.wait(alerts, ["MariadbDown"], USUAL)
    host.run("systemctl start mariadb")
    host.wait(alerts, [], USUAL)
    passwords = "select count(*) from pg_authid where rolname = 'prometheus' and rolpassword is not null"
    assert host.run(f'runuser -u postgres -- psql --tuples-only --no-align --command="{passwords}"') == "0"
    for command in ("psql --command='table pg_authid' postgres", "mariadb --execute='select * from mysql.global_priv'"):
        host.run(f"! runuser -u prometheus -- {command} 2>/dev/null")
    listening = host.run("ss --listening --tcp --numeric --no-header | awk '{ print $4 }'").split()
    assert {"127.0.0.1:9104", "127.0.0.1:9187"} <= set(listening)
    assert not [
        entry for entry in listening if entry.rpartition(":")[2] in ("9104", "9187") and "127.0.0.1" not in entry
    ]


def test_a_second_run_changes_nothing(host: Monitored) -> None:
    assert host.converge().good().changed == {HOST: 0}


def received(host: Monitored, words: str) -> str:
    """Return the entries of the host at the log store with these words; the wait ends when there is one."""
    (shipping,) = hosts(site_environment(logs=True))
    search = f"journalctl --quiet --output=cat --file='/var/log/landbridge-logs/{log_files(log_source(shipping))}' --grep={quote(words)}"
    return host.run(f"timeout 120 sh -c {quote(f'until {search}; do sleep 0.2; done')}")


@pytest.mark.long
def test_entries_reach_the_log_store_after_an_outage_of_it(host: Monitored) -> None:
    host.converge(logs=True).good()
    assert host.converge("--check", logs=True).good().changed == {HOST: 0}
    assert host.converge(logs=True).good().changed == {HOST: 0}
    host.run("logger --tag slurmd 'launch task StepId=7.0'")
    assert received(host, "StepId=7.0") == "launch task StepId=7.0"
    host.run("systemctl stop landbridge-log-receiver; logger --tag slurmd 'done with StepId=8.0'")
    host.run("systemctl start landbridge-log-receiver")
    assert "done with StepId=8.0" in received(host, "StepId=8.0")
    # Without a certificate there is no connection, and the receiver itself is on the loopback.
    refused = host.run(
        f"curl --silent --show-error --cacert {AUTHORITY_FILE} --request POST https://{ADDRESS}:19532/upload 2>&1 || true"
    )
    assert "certificate required" in refused or "handshake failure" in refused, refused
    listening = host.run("ss --listening --tcp --numeric --no-header | awk '{ print $4 }'").split()
    assert {address for address in listening if ":1953" in address} == {f"{ADDRESS}:19532", "127.0.0.1:19531"}
    host.run("systemctl start landbridge-log-retention")
    metrics = host.run("cat /var/lib/prometheus/node-exporter/landbridge-logs.prom")
    assert all(name in metrics for name in metrics_contract().exporters["logs"].metrics)
    # The files are closed once a day, and the receiver runs again.
    host.run(
        "sed 's/now - DAY for/now for/' /opt/landbridge/bin/landbridge-log-retention > /run/close-now; "
        "python3 /run/close-now /etc/landbridge/log-store/retention.json; rm /run/close-now"
    )
    assert "@" in host.run("ls /var/log/landbridge-logs")
    host.run("logger --tag slurmd 'done with StepId=9.0'")
    assert "done with StepId=9.0" in received(host, "StepId=9.0")
    assert "done with StepId=8.0" in received(host, "StepId=8.0")
    private = host.run(
        "find /var/log/landbridge-logs /etc/landbridge/log-store /etc/landbridge/log-shipper -perm /o+rwx -type f -name '*.[pj]*'"
    )
    assert private == "/etc/landbridge/log-store/retention.json"
