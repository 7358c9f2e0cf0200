"""Targets of Prometheus: each host once, with the labels of the contract, reachable through the firewall, and with a certificate."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.model_servers import model_servers_args
from landbridge.plan.network.cloud_hosts import cloud_model_server_addresses
from landbridge.plan.network.host_role import hosts
from landbridge.plan.observability.gaps import unmonitored
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from landbridge.plan.roles.nodes.dcgm_exporter import counters
from landbridge.plan.roles.prometheus import monitoring_variables, planned_targets
from landbridge.plan.serving.gateway import gateway_settings
from landbridge.plan.serving.model_servers import model_server_variables
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.secrets import generated_secrets
from landbridge.plan.site.site_tls import server_names
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment
from tests.unit.observability.serving_sample import SERVICE, served, served_in_aws

MONITORING = ("onprem", "services", "monitoring")
VERSION = ("scheduler", "slurm", "version")
POOLS = ("aws", "pools")
NODES = ("onprem", "nodes")


def monitored(changes: Mapping[DataPath, Any] | None = None) -> Environment:
    return environment({MONITORING: "mlops01", **(changes or {})})


def test_without_a_monitoring_host_nothing_changes() -> None:
    plain = environment()
    assert planned_targets(plain) == () and monitoring_variables(plain) == {}
    text = json.dumps(inventory(plain))
    assert "node_exporter" not in text and "prometheus_" not in text and "landbridge_monitoring" not in text
    assert not {"monitoring-scrape", "monitoring-operator"} & set(generated_secrets(plain))


def test_every_host_is_a_target_with_a_certificate_for_its_address() -> None:
    site = monitored()
    nodes = [target for target in planned_targets(site) if target.job == "node"]
    assert [target.labels["node"] for target in nodes] == [host.name for host in hosts(site)]
    names = server_names(site)
    for host, target in zip(hosts(site), nodes, strict=True):
        assert target.address == f"{host.address}:9100" and host.address in names[host.name]
    # MLflow's names stay in the certificate of its host, in their order; Alertmanager is on the loopback.
    assert names["mlops01"][: len(server_names(environment())["mlops01"])] == server_names(environment())["mlops01"]
    assert "127.0.0.1" in names["mlops01"] and "127.0.0.1" not in names["ctl01"]
    assert {"monitoring-scrape", "monitoring-operator"} <= set(generated_secrets(site))


def test_labels_are_those_of_the_contract() -> None:
    known = {*metrics_contract().target_labels, *metrics_contract().external_labels}
    variables = monitoring_variables(monitored())
    for groups in variables["prometheus_targets"].values():
        for group in groups:
            assert set(group["labels"]) <= known
    assert set(variables["prometheus_settings"]["global"]["external_labels"]) == set(metrics_contract().external_labels)


def test_gpu_nodes_have_gpu_metrics_with_their_rack_and_platform() -> None:
    site = monitored()
    gpu = [target for target in planned_targets(site) if target.job == "dcgm"]
    assert gpu and all(target.labels["platform"] and target.labels["rack"] for target in gpu)
    assert {row["field"] for row in counters()} == set(metrics_contract().exporters["dcgm"].metrics)
    assert not [row for row in counters() if "," in row["help"]]
    off = monitored({("onprem", "gpu_tools"): {"dcgm": False}})
    assert [target for target in planned_targets(off) if target.job == "dcgm"] == []


@pytest.mark.parametrize(
    ("version", "pools", "has_metrics", "parameters"),
    [
        ("24.11", True, False, False),
        ("25.11", True, False, False),
        ("25.11", False, True, False),
        ("26.05", True, True, True),
    ],
)
def test_slurm_has_metrics_where_its_release_allows_them(
    version: str, pools: bool, has_metrics: bool, parameters: bool
) -> None:
    changes: dict[DataPath, Any] = {VERSION: version} if pools else {VERSION: version, POOLS: []}
    site = monitored(changes)
    jobs = {target.job for target in planned_targets(site)}
    conf = slurm_files(site)["slurm.conf"]
    assert ("slurm" in jobs) == has_metrics == ("MetricsType=metrics/openmetrics" in conf)
    assert ("MetricsParameters=ignore_private_data" in conf) == parameters


def test_only_the_monitoring_host_reaches_the_exporters() -> None:
    rules = firewall_rules(monitored())
    ports = {
        port: rule.sources
        for group in rules.values()
        for rule in group
        for port in rule.ports
        if port in ("9100", "9400")
    }
    assert ports == {"9100": ("10.20.0.15/32",), "9400": ("10.20.0.15/32",)}
    assert not [rule for group in rules.values() for rule in group if "9093" in rule.ports]


def test_each_slot_of_a_service_and_the_gateway_are_targets() -> None:
    site = monitored(served())
    servers = [target for target in planned_targets(site) if target.job == "model_server"]
    assert [(target.labels["node"], target.labels["slot"], target.address) for target in servers] == [
        ("srv01", "a", "10.20.0.31:8500"),
        ("srv01", "b", "10.20.0.31:8501"),
        ("srv02", "a", "10.20.0.32:8500"),
        ("srv02", "b", "10.20.0.32:8501"),
    ]
    assert {target.labels["service"] for target in servers} == {"digits"}
    assert [target.address for target in planned_targets(site) if target.job == "model_gateway"] == ["10.20.0.33:8405"]
    # The certificate of each host has the address at which Prometheus verifies it.
    names = server_names(site)
    assert all(address in names[host] for host, address in (("srv01", "10.20.0.31"), ("gwm01", "10.20.0.33")))
    jobs = {job["job_name"]: job for job in monitoring_variables(site)["prometheus_settings"]["scrape_configs"]}
    for job in ("model_server", "model_gateway"):
        assert jobs[job]["scheme"] == "https" and "basic_auth" not in jobs[job]
    assert {"regex": "exported_service", "action": "labeldrop"} in jobs["model_server"]["metric_relabel_configs"]


def test_prometheus_reaches_serving_which_stays_closed_to_all_others() -> None:
    before, after = (firewall_rules(environment({**served(), **more})) for more in ({}, {MONITORING: "mlops01"}))
    added = {
        group: {(rule.sources, rule.ports) for rule in after[group]}
        - {(rule.sources, rule.ports) for rule in before[group]}
        for group in ("model_server", "model_gateway")
    }
    reader = ("10.20.0.15/32",)
    assert added == {
        "model_server": {(reader, ("8500",)), (reader, ("8501",))},
        "model_gateway": {(reader, ("8405",))},
    }


def test_model_servers_and_the_gateway_know_the_only_reader_of_their_metrics() -> None:
    for more, client in (({}, ""), ({MONITORING: "mlops01"}, "10.20.0.15")):
        site = environment({**served(), **more})
        (service,) = model_server_variables(site, "srv01")["model_server_services"]
        assert {slot["settings"]["metrics_client"] for slot in service["slots"]} == {client}
        settings = gateway_settings(site)
        assert settings is not None
        assert (settings.metrics, settings.metrics_client) == ("10.20.0.33:8405" if client else "", client)


def test_hosts_in_aws_are_targets_and_their_security_group_has_the_firewalls_openings() -> None:
    site = monitored(served_in_aws())
    host, address = "serve-az4-01", str(cloud_model_server_addresses(site)["serve-az4-01"])
    of_host = [target for target in planned_targets(site) if target.labels.get("node") == host]
    assert [(target.job, target.address, target.labels.get("slot")) for target in of_host] == [
        ("node", f"{address}:9100", None),
        ("model_server", f"{address}:8500", "a"),
        ("model_server", f"{address}:8501", "b"),
    ]
    assert {(target.labels["role"], target.labels["site"]) for target in of_host} == {("model_server", "aws")}
    assert address in server_names(site)[host]
    variables = inventory(site)["_meta"]["hostvars"][host]
    assert variables["landbridge_monitoring"] and variables["node_exporter_listen"] == f"{address}:9100"
    args = model_servers_args(site)
    assert args is not None
    opened = {rule.ports[0] for rule in args.security_group_rules if rule.peer == "10.20.0.15/32" and rule.ports}
    by_group = firewall_rules(site)
    rules = [rule for group in ("onprem", "model_server") for rule in by_group[group]]
    assert opened == {9100, 8500, 8501}
    assert opened == {int(port) for rule in rules if rule.sources == ("10.20.0.15/32",) for port in rule.ports}
    unmonitored_site = model_servers_args(environment(served_in_aws()))
    assert unmonitored_site is not None
    assert not [rule for rule in unmonitored_site.security_group_rules if rule.key.startswith("metrics-")]


def test_a_runtime_with_other_metrics_is_no_target_and_is_named() -> None:
    site = monitored({**served(), (*SERVICE, "runtime"): "vllm"})
    assert not [target for target in planned_targets(site) if target.job == "model_server"]
    assert ("serving", "services", "digits", "runtime") in dict(unmonitored(site, ()))


def test_nodes_of_an_operating_system_with_dcgm_have_its_exporter() -> None:
    # Landbridge installs neither the driver nor DCGM there.
    site = monitored({(*NODES, 0, "os"): "dgx-os-7"})
    gpu = [target.labels["node"] for target in planned_targets(site) if target.job == "dcgm"]
    assert gpu == ["dgx01", "dgx02"]
    variables = inventory(site)["_meta"]["hostvars"]["dgx01"]
    assert variables["landbridge_dcgm_exporter"] and "landbridge_dcgm" not in variables
    assert not [path for path, _ in unmonitored(site, gpu_metrics_hosts(site)) if path[:2] == NODES]


def test_nodes_without_dcgm_are_no_targets_and_are_named() -> None:
    for part, setting in (("driver", "install"), ("gpu_tools", "dcgm")):
        site = monitored({("onprem", part): {setting: False}})
        assert not [target for target in planned_targets(site) if target.job == "dcgm"]
        assert (*NODES, 0) in dict(unmonitored(site, gpu_metrics_hosts(site)))


def test_prometheus_keeps_the_metrics_of_the_contract_only() -> None:
    jobs = {job["job_name"]: job for job in monitoring_variables(monitored())["prometheus_settings"]["scrape_configs"]}
    rule = jobs["node"]["metric_relabel_configs"][0]
    assert rule["action"] == "keep"
    assert {"node_load1", "landbridge_burst_active", "landbridge_link_check"} <= set(rule["regex"].split("|"))


def test_slurm_job_exporter_52_nodes_with_mig_are_not_asked_for_values_of_the_pcie_link() -> None:
    node = {"platform": "dgx-h100", "address": "10.20.1.11", "mig": [{"gpus": "7", "instances": {"3g.40gb": 2}}]}
    whole = {"hosts": "dgx02", "platform": "dgx-h100", "address": "10.20.1.12"}
    site = monitored({NODES: [{"hosts": "dgx01", **node}, whole]})
    hosts = inventory(site)["_meta"]["hostvars"]
    fields = {row["field"] for row in hosts["dgx01"]["dcgm_exporter_counters"]}
    left_out = {row["field"] for row in counters()} - fields
    assert left_out == {"DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"}
    assert "dcgm_exporter_counters" not in hosts["dgx02"], "those of the group"
