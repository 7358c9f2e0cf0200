"""Inhibitions: the real Alertmanager sends one alert of a fault, and hides its consequences and nothing else."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.observability.alerts import alert_inhibitions, alert_rules
from landbridge.plan.observability.inhibitions import inhibit_rules
from landbridge.plan.observability.scrapes import alertmanager_settings
from sandbox.demo.cluster import ClusterError, wait_for
from sandbox.ports import free_port
from tests.unit.core.samples import environment
from tests.unit.observability.debian_programs import debian_program

MONITORED = {("onprem", "services", "monitoring"): "mlops01"}
Alert = tuple[str, dict[str, str]]
CASES: list[tuple[list[Alert], set[str]]] = [
    ([("SlurmctldStopped", {}), ("SlurmMetricsAbsent", {}), ("BurstNotActing", {})], {"SlurmctldStopped"}),
    ([("MariadbDown", {"node": "db01"}), ("SlurmdbdStopped", {})], {"MariadbDown"}),
    (
        [("MariadbDown", {"node": "db01"}), ("ServiceFailed", {"node": "db01", "name": "slurmdbd.service"})],
        {"MariadbDown"},
    ),
    (
        [("MariadbDown", {"node": "db01"}), ("ServiceFailed", {"node": "db01", "name": "chrony.service"})],
        {"MariadbDown", "ServiceFailed"},
    ),
    ([("LinkDown", {}), ("BgpSessionDown", {"node": "gw01"}), ("GpuXid", {"node": "dgx01"})], {"LinkDown", "GpuXid"}),
    (
        [("LinkDown", {}), ("ObjectiveBurnsFast", {"objective": "link"}), ("ObjectiveBurns", {"objective": "burst"})],
        {"LinkDown", "ObjectiveBurns"},
    ),
    ([("ServiceHostDown", {"node": "ctl01"}), ("BurstMetricsAbsent", {})], {"ServiceHostDown"}),
    ([("ServiceHostDown", {"node": "login01"}), ("BurstMetricsAbsent", {})], {"ServiceHostDown", "BurstMetricsAbsent"}),
    (
        [("DiskFull", {"node": "a", "mountpoint": "/"}), ("DiskFilling", {"node": "a", "mountpoint": "/x"})],
        {"DiskFull", "DiskFilling"},
    ),
    # The health check drains nodes without their home directories.
    ([("NfsServerStopped", {"node": "nfs01"}), ("SlurmNodesUnusable", {})], {"NfsServerStopped"}),
    ([("ModelHostDown", {"node": "serve-az4-01"}), ("ModelServerDown", {"node": "serve-az4-01"})], {"ModelHostDown"}),
    ([("ModelGatewayDown", {"node": "gwm01"}), ("ModelHostsUnread", {})], {"ModelGatewayDown"}),
    ([("NodeDown", {"node": "dgx01"}), ("GpuMetricsAbsent", {"node": "dgx01"})], {"NodeDown"}),
    (
        [("SourceUnread", {"node": "db01", "source": "mariadb"}), ("PostgresqlMetricsAbsent", {})],
        {"SourceUnread", "PostgresqlMetricsAbsent"},
    ),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start Alertmanager with the planned settings; yield the address of its API."""
    folder = tmp_path_factory.mktemp("alertmanager")
    (folder / "alertmanager.yml").write_text(json.dumps(alertmanager_settings(environment(MONITORED))))
    listen = f"127.0.0.1:{free_port()}"
    program = debian_program("prometheus-alertmanager", "prometheus-alertmanager")
    # Debian's program reads its templates below /usr/share: the package's folder is there in a mount namespace.
    shared = program.parents[1] / "share"
    inside = f'mount --bind {shared} /usr/share && exec "$0" "$@"'
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside, program]
    words += ["--config.file=alertmanager.yml", f"--web.listen-address={listen}", "--cluster.listen-address="]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*words, "--storage.path=data"], cwd=folder, stdout=log, stderr=log)
    try:
        wait_for("Alertmanager", partial(answered, process, folder, listen), every=0.1)
        yield f"http://{listen}/api/v2"
    finally:
        process.terminate()
        process.wait()


def answered(process: "subprocess.Popen[bytes]", folder: Path, listen: str) -> bool:
    """Return whether Alertmanager answers; it must not have ended."""
    assert process.poll() is None, (folder / "log").read_text()
    request(f"http://{listen}/api/v2/status")
    return True


def request(url: str, content: object = None) -> Any:
    data = None if content is None else json.dumps(content).encode()
    call = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(call, timeout=30) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.URLError as error:
        raise ClusterError(str(error)) from None


@pytest.mark.parametrize(("alerts", "sent"), CASES)
def test_consequences_are_hidden_while_their_cause_fires(address: str, alerts: list[Alert], sent: set[str]) -> None:
    began, ended = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset)) for offset in (-60, 3600))
    listed = [{"labels": {"alertname": name, **labels}, "startsAt": began, "endsAt": ended} for name, labels in alerts]
    request(f"{address}/alerts", listed)
    try:
        active = f"{address}/alerts?active=true&inhibited=false&silenced=false"
        names = lambda: {alert["labels"]["alertname"] for alert in request(active)}  # noqa: E731
        assert wait_for("the alerts that are sent", names, lambda seen: seen == sent, seconds=30, every=0.1) == sent
    finally:
        request(f"{address}/alerts", [{**alert, "endsAt": began} for alert in listed])
        wait_for("no alert", lambda: request(f"{address}/alerts"), lambda rest: not rest, every=0.1)


def test_inhibitions_name_alerts_and_leave_out_services_with_several_hosts() -> None:
    for inhibition in alert_inhibitions():
        names = "|".join((inhibition.alert, inhibition.hides, inhibition.hides_all_but)).split("|")
        assert {name for name in names if name} <= set(alert_rules())
    pair = environment(
        {
            **MONITORED,
            ("onprem", "services", "controller"): ["ctl01", "ctl02"],
            ("onprem", "addresses", "ctl02"): "10.20.0.99",
        }
    )
    nodes = [
        rule["source_matchers"]
        for rule in inhibit_rules(pair)
        if any("node=~" in text for text in rule["source_matchers"])
    ]
    assert nodes and not [matchers for matchers in nodes if any("ctl" in text for text in matchers)]
