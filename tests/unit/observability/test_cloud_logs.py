"""Logs of nodes in AWS in the plan: who ships, the network, files of each node, the proof, and the search."""

import json
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import compiled_forms
from landbridge.ops.residency.data_graph import data_graph
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.node_security_group import pool_security_group_rules
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.services.log_store import classes_kept_in_aws, ships_cloud_logs
from landbridge.plan.roles.log_store import SEVERAL, log_source, log_store_variables, node_log_sources
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.link.flows import flow_expectations
from tests.unit.core.samples import environment

POOL: DataPath = ("aws", "pools", 0, "max_nodes")
STORED: dict[DataPath, Any] = {
    ("onprem", "services", "logs"): "mlops01",
    ("onprem", "services", "monitoring"): "mlops01",
}
#: A data class that may be in AWS only.
KEPT: dict[DataPath, Any] = {("data_classes", "partner"): {"sites": ["aws"]}}


def site(**changes: Any) -> Environment:
    return environment({**STORED, **{("data_classes", name): value for name, value in changes.items()}})


def test_nodes_ship_over_the_tunnel_with_the_certificate_of_their_metrics() -> None:
    planned = inventory(site())
    assert planned["all"]["vars"]["landbridge_cloud_logs"] == {
        "url": "https://10.20.0.15:19532",
        "certificate": "/etc/landbridge/metrics/host.pem",
        "authority": "/etc/landbridge/metrics/ca.pem",
    }
    store = planned["log_store"]["vars"]
    assert store["log_store_nodes_name"] == "aws-nodes.cluster.internal"
    assert {node["name"] for node in store["log_store_nodes"]} >= {"p5-1", "p5-2"}
    assert {node["class"] for node in store["log_store_nodes"]} <= set(store["log_store_retention"])


def test_the_network_lets_nodes_reach_the_port_of_the_store_and_no_other_host() -> None:
    rules = {rule.why: (rule.sources, rule.ports) for rule in firewall_rules(site())["log_store"]}
    assert rules["nodes in AWS send their logs"] == (("10.60.0.0/16",), ("19532",))
    outwards = [rule for rule in pool_security_group_rules(site()) if rule.ports == (19532, 19532)]
    assert [(rule.direction, rule.peer) for rule in outwards] == [("out", "10.20.0.0/16")]
    flows = [flow for flow in flow_expectations(site()) if flow.port == 19532]
    assert [(flow.origin, flow.to, flow.listens) for flow in flows] == [("aws", "mlops01", True)]


@pytest.mark.parametrize("changes", [{}, {("onprem", "services", "logs"): "mlops01"}, {**STORED, **KEPT}])
def test_nodes_without_a_store_or_a_certificate_or_with_data_that_stays_in_aws_do_not_ship(
    changes: dict[DataPath, Any],
) -> None:
    chosen = environment(changes)
    assert not ships_cloud_logs(chosen) and node_log_sources(chosen) == {}
    text = json.dumps(inventory(chosen))
    assert "landbridge_cloud_logs" not in text and '"log_store_nodes": [{' not in text
    assert "nodes in AWS send" not in {rule.why for rules in firewall_rules(chosen).values() for rule in rules}
    assert not [rule for rule in pool_security_group_rules(chosen) if rule.ports == (19532, 19532)]
    assert bool(classes_kept_in_aws(chosen)) == (KEPT.items() <= changes.items())


def test_files_of_a_node_are_its_own_and_stay_with_other_pools_and_sizes() -> None:
    small, large = node_log_sources(site()), node_log_sources(environment({**STORED, POOL: 900}))
    assert small.items() <= large.items() and len(set(large.values())) == len(large) > 800
    assert not set(large.values()) & {log_source(host) for host in hosts(site())}
    assert all(address.startswith("127.") and not address.startswith("127.0.0.") for address in large.values())


def test_the_retention_of_nodes_is_that_of_their_only_class() -> None:
    several = log_store_variables(site(other={"sites": ["onprem", "aws"]}))
    assert {node["class"] for node in several["log_store_nodes"]} == {SEVERAL}


def test_the_proof_has_the_way_from_nodes_to_the_store_and_two_barriers_back() -> None:
    for chosen, is_open in ((site(), True), (environment({**STORED, **KEPT}), False)):
        graph = data_graph(compiled_forms(chosen), {})
        (upload,) = [crossing for crossing in graph.from_place("nodes:us-east-1") if "log-store" in crossing.target]
        (back,) = [crossing for crossing in graph.from_place("log-store:mlops01") if "nodes" in crossing.target]
        assert upload.is_open is is_open
        assert [barrier.open for barrier in back.barriers].count(False) >= 2
        assert not any(barrier.open for barrier in back.barriers)
