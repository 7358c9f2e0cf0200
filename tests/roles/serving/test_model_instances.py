"""Service that starts hosts of model servers in AWS, on the gateway's host: its files, an order of the operator, and its removal."""

import json
from collections.abc import Iterator

import pytest

from landbridge.plan.roles.hosts.roles_anywhere import INSTANCES_FILE
from landbridge.plan.serving.follow import STATE
from landbridge.realise import wheel
from sandbox.aws_emulator.process import running
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.serving.model_instances_lab import (
    ENDPOINT,
    HOST,
    PASSWORD,
    SERVER,
    SITE,
    ModelInstances,
    gateway_credentials,
    stopped_instance,
)
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.served_models.folders import new_key

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(900)]
UNIT, USER = "landbridge-model-instances", "landbridge-instances"
SETTINGS, TEXTFILES = "/etc/landbridge/model-instances.json", "/var/lib/prometheus/node-exporter"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelInstances]:
    lab, folder = layout("landbridge-test-instances"), tmp_path_factory.mktemp("instances")
    _, public = new_key(folder)
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--require-credentials", "--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options, "--imds", "127.0.0.1:0", "--boot-delay", "0") as cloud:
            instance, keys = stopped_instance(cloud), gateway_credentials(cloud)
            ready = ModelInstances(lab, folder, wheel.build(folder), public, cloud, instance, keys)
            # The role node_exporter creates the folder.
            ready.run(f"mkdir -p {TEXTFILES}")
            ready.converge("--check").good()
            assert ready.run("ls /etc/landbridge /etc/haproxy 2>/dev/null || true") == "", "check mode on a new host"
            ready.converge().good()
            yield ready
    finally:
        cleanup.down(lab)


def test_it_starts_the_host_with_its_own_account(site: ModelInstances) -> None:
    absent = wait_for("its first pass", lambda: site.run(f"cat {STATE}/instances/absent.json 2>/dev/null || true"))
    assert json.loads(absent) == [], site.run(f"journalctl --unit={UNIT} --output=cat --no-pager")
    shown = site.run(f"systemctl show --property=User,CapabilityBoundingSet,ActiveState,NRestarts {UNIT}").splitlines()
    assert {f"User={USER}", "CapabilityBoundingSet=", "ActiveState=active", "NRestarts=0"} == set(shown)
    assert site.run(f"systemctl is-enabled {UNIT}") == "enabled"
    # Without a record of the scale a service has all its hosts.
    wait_for("the start", site.state, lambda state: state == "running")
    assert f"{SERVER}: start of {site.instance}" in site.run(f"journalctl --unit={UNIT} --output=cat --no-pager")


def test_check_mode_and_a_second_run_change_nothing(site: ModelInstances) -> None:
    before = site.run(f"systemctl show --property=MainPID --value {UNIT} landbridge-serving haproxy")
    assert site.converge("--check").good().changed == {HOST: 0}
    second = site.converge("--diff").good()
    assert second.changed == {HOST: 0}, second.one_line
    assert site.run(f"systemctl show --property=MainPID --value {UNIT} landbridge-serving haproxy") == before


def test_its_account_alone_reads_the_credentials_and_it_reads_no_other_secret(site: ModelInstances) -> None:
    assert site.run(f"stat -c '%U %a' {INSTANCES_FILE} {STATE}/instances").splitlines() == [
        f"{USER} 400",
        f"{USER} 755",
    ]
    session = next(line.split(" = ")[1] for line in site.credentials.splitlines() if "token" in line)
    assert session not in site.run("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '")
    pid = site.run(f"systemctl show --property=MainPID --value {UNIT}")
    inside = f"nsenter --target {pid} --mount -- setpriv --reuid={USER} --regid=haproxy --clear-groups"
    assert session in site.run(f"{inside} cat {INSTANCES_FILE}")
    refused = (
        "cat /etc/landbridge/model-mlflow-password",
        "cat /etc/landbridge/model-gateway/tls.pem",
        "cat /etc/landbridge/site-certificate/host.pem",
        "ls /run/haproxy",
        "ls /run/landbridge-serving",
        f"touch {STATE}/x",
        "touch /var/lib/haproxy/x",
        "touch /etc/landbridge/x",
    )
    for command in refused:
        site.run(f"! {inside} {command} 2>/dev/null")
    site.run(f"! setpriv --reuid=landbridge-serving --regid=haproxy --clear-groups cat {INSTANCES_FILE} 2>/dev/null")
    assert PASSWORD not in site.run(f"cat {SETTINGS}")


def test_an_order_of_the_operator_starts_the_host_in_aws(site: ModelInstances) -> None:
    gauges = f"cat {TEXTFILES}/landbridge-model-instances.prom"
    site.run("landbridge-model-gateway scale digits 0")
    client_of(site.cloud, "ec2").stop_instances(InstanceIds=[site.instance])
    stopped = wait_for("a pass", lambda: site.run(gauges), lambda text: f'running{{host="{SERVER}"}} 0' in text)
    assert f'wanted{{host="{SERVER}"}} 0' in stopped
    site.run("landbridge-model-gateway wake 5")
    wait_for("the start", site.state, lambda state: state == "running")
    text = wait_for("a pass", lambda: site.run(gauges), lambda text: f'running{{host="{SERVER}"}} 1' in text)
    assert f'wanted{{host="{SERVER}"}} 1' in text
    # Node exporter's account reads them.
    assert site.run(f"setpriv --reuid=nobody --regid=nogroup --clear-groups {gauges}")
    assert "Traceback" not in site.run(f"journalctl --unit={UNIT} --output=cat --no-pager")


def test_nothing_of_it_stays_without_hosts_in_aws(site: ModelInstances) -> None:
    site.converge(has_aws=False).good()
    assert site.run(f"systemctl is-active {UNIT} || true") == "inactive"
    places = f"{INSTANCES_FILE} {SETTINGS} /etc/systemd/system/{UNIT}.service {STATE}/instances {TEXTFILES}/*instances*"
    assert site.run(f"ls -d {places} 2>/dev/null || true") == ""
    assert "no hosts of model servers in AWS" in site.run("landbridge-model-gateway wake 5 2>&1 || true")
    assert site.run("systemctl is-active landbridge-serving") == "active"
    second = site.converge("--diff", has_aws=False).good()
    assert second.changed == {HOST: 0}, second.one_line
    site.converge().good()
    assert site.run(f"systemctl is-active {UNIT}; systemctl is-enabled {UNIT}") == "active\nenabled"
