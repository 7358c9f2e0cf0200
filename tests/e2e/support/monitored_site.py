"""Monitoring of the tests' cluster: the sandbox's environment file with a monitoring host, and its alerts as an operator reads them."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.plan.observability.alerts import alert_groups
from landbridge.plan.observability.scrapes import prometheus_settings, target_files
from landbridge.plan.site.site_tls import AUTHORITY_FILE
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import wait_for
from sandbox.demo.work import command, program

ROOT = Path(__file__).parents[3]
HOST, GPU_HOST = "mlops01", "dgx01"
_SERVICES_END, _BUDGET_LINE = f"mlops: {HOST}}}\n", "    budget: {monthly_usd: 1000}\n"
#: The lab's clock is that of the machine that runs it, which nothing may synchronise. Seconds instead of minutes are too short for a new node in AWS,
#: whose metrics are found at the next pass of the discovery.
#: A message that is dropped while Alertmanager starts is counted for ten minutes.
NOT_JUDGED = frozenset({"ClockNotSynchronised", "AwsNodeMetricsAbsent", "AlertsNotSent"})
Alert = tuple[str, str]


def with_monitoring(text: str) -> str:
    """Return an environment file with a monitoring host."""
    assert text.count(_SERVICES_END) == text.count(_BUDGET_LINE) == 1
    text = text.replace(_SERVICES_END, f"mlops: {HOST}, monitoring: {HOST}}}\n")
    return text.replace(_BUDGET_LINE, f"{_BUDGET_LINE}    observability: {{scrape_seconds: 10}}\n")


@dataclass(frozen=True)
class MonitoredSite:
    """Cluster whose alerts wait for seconds instead of minutes (variable prometheus_minute), with faults and repairs."""

    deployment: BringUp

    def run(self, host: str, script: str, timeout: float = 300) -> str:
        """Run a shell script on a host."""
        return self.deployment.cluster.run(host, "sh", "-c", script, timeout=timeout)

    def configure_monitoring(self) -> None:
        """Run the playbook of `landbridge configure --tags monitoring` with seconds instead of minutes, and metrics of hosts each five seconds."""
        times = ["-e", "prometheus_minute=s", "-e", "node_exporter_seconds=5"]
        # The lab's nodes have a preinstalled driver, so that their exporter is not planned.
        environment, gpu_hosts = self.deployment.environment, frozenset({GPU_HOST})
        planned = {
            "prometheus_settings": prometheus_settings(environment, gpu_hosts, AUTHORITY_FILE),
            "prometheus_targets": target_files(environment, gpu_hosts),
            "prometheus_rules": alert_groups(environment, gpu_hosts),
        }
        times += ["-e", json.dumps(planned)]
        line = [
            program("ansible-playbook"),
            "-i",
            str(self.deployment.path),
            "ansible/site.yml",
            "--tags",
            "monitoring",
        ]
        line += times
        command(line, env=self.deployment.variables(), cwd=ROOT, timeout=1500)

    def landbridge_configure(self, *words: str) -> None:
        """Run `landbridge configure` as an operator."""
        line = [program("landbridge"), "configure", *self.deployment.file, *words, "--format", "json"]
        command(line, env=self.deployment.variables(), timeout=1500)

    def query(self, url: str) -> Any:
        """Return the answer of Prometheus or Alertmanager, with the account of operators."""
        login = '--user "operator:$(cat /etc/prometheus/operator-password)" --cacert /etc/landbridge/tls/ca.pem'
        return json.loads(self.run(HOST, f"curl --silent --fail --max-time 30 {login} {shlex.quote(url)}"))

    def prometheus(self, path: str) -> Any:
        address = self.deployment.environment.onprem.addresses[HOST]  # type: ignore[union-attr]
        return self.query(f"https://{address}:9090/api/v1/{path}")["data"]

    def firing(self) -> set[Alert]:
        """Return name and node of the alerts that Alertmanager sends to a person: neither inhibited nor silenced, no info."""
        alerts = self.query("https://127.0.0.1:9093/api/v2/alerts?active=true&inhibited=false&silenced=false")
        rows = [alert["labels"] for alert in alerts if alert["labels"]["severity"] != "info"]
        seen = {(row["alertname"], row.get("node", "")) for row in rows if row["alertname"] not in NOT_JUDGED}
        return {alert for alert in seen if not self._is_of_a_node_without_dcgm(alert)}

    def _is_of_a_node_without_dcgm(self, alert: Alert) -> bool:
        """Return true for the lab's nodes in AWS: a stand-in of the exporter runs on GPU_HOST alone."""
        name, node = alert
        return name == "GpuMetricsAbsent" and bool(node) and node not in self.deployment.environment.onprem.addresses  # type: ignore[union-attr]

    def pending(self) -> set[str]:
        """Return the names of alerts whose expression holds and which do not fire yet."""
        alerts = self.prometheus("alerts")["alerts"]
        labels = [alert["labels"] for alert in alerts if alert["state"] == "pending"]
        pairs = {(row["alertname"], row.get("node", "")) for row in labels}
        return {pair[0] for pair in pairs if not self._is_of_a_node_without_dcgm(pair)} - NOT_JUDGED

    def targets(self) -> dict[tuple[str, str], str]:
        """Return the state of each target by job and address."""
        active = self.prometheus("targets?state=active")["activeTargets"]
        return {(target["labels"]["job"], target["scrapeUrl"]): target["health"] for target in active}

    def quiet(self) -> None:
        """Wait until no alert fires or waits."""
        wait_for("no alert", lambda: (self.firing(), self.pending()), lambda seen: seen == (set(), set()), every=1)
