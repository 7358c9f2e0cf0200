"""Plan of two model gateways: one configuration, a shared address, certificates of both names, and settings of each service."""

import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.host_role import hosts
from landbridge.plan.observability.targets import metrics_targets
from landbridge.plan.serving.services import served_models
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.site_tls import server_names
from landbridge.serving.follow.config import load_follow_config
from landbridge.serving.host.config import load_host_config
from tests.unit.served_models.test_serving_plan import ROOT, admits

FIRST, SECOND, SHARED = "10.20.0.33", "10.20.0.47", "10.20.0.48"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    text = (ROOT / "tests/unit/rules/full.yaml").read_text()
    file = tmp_path_factory.mktemp("pair") / "Pulumi.full.yaml"
    text = text.replace("gateway: gwm01", "gateway: [gwm01, gwm02]\n      name: models")
    first = next(line for line in text.splitlines() if "gwm01" in line and "10.20.0.33" in line)
    file.write_text(
        text.replace(first, first.replace("gwm01: 10.20.0.33", f"gwm01: 10.20.0.33, gwm02: {SECOND}, models: {SHARED}"))
    )
    return load_environment(file).environment


def test_both_hosts_are_gateways_with_one_configuration(pair: Environment) -> None:
    assert [host.name for host in hosts(pair) if "model_gateway" in host.groups] == ["gwm01", "gwm02"]
    assert "models" not in {host.name for host in hosts(pair)}
    text = inventory(pair)["model_gateway"]["vars"]["model_gateway_configuration"]
    assert "    bind *:8443 ssl" in text and "    bind *:8405 ssl" in text
    assert served_models(pair)[0]["url"].startswith("https://models:8443/")


def test_each_host_has_its_part_of_the_shared_address_and_names_the_other(pair: Environment, tmp_path: Path) -> None:
    variables = inventory(pair)["_meta"]["hostvars"]
    first, second = variables["gwm01"], variables["gwm02"]
    assert first["model_gateway_shared_address"] == second["model_gateway_shared_address"] == f"{SHARED}/16"
    assert (first["model_gateway_address"], first["model_gateway_peer"]) == (FIRST, SECOND)
    assert (second["model_gateway_address"], second["model_gateway_peer"]) == (SECOND, FIRST)
    assert first["model_gateway_shared_priority"] > second["model_gateway_shared_priority"]
    file = tmp_path / "follow.json"
    file.write_text(json.dumps(second["model_gateway_follow"]))
    config = load_follow_config(file)
    assert config.peer is not None and (config.host, config.peer.host, config.peer.address) == ("gwm02", "gwm01", FIRST)
    file.write_text(json.dumps(variables["srv01"]["model_server_follow"]))
    host = load_host_config(file)
    assert (host.gateway, host.address) == ("models", SHARED)


def test_certificates_have_the_shared_name(pair: Environment) -> None:
    names = server_names(pair)
    for host in ("gwm01", "gwm02"):
        assert {host, "models", SHARED} <= set(names[host])
    assert "models" not in names["srv01"]


def test_both_gateways_have_the_same_ways_and_vrrp_between_them(pair: Environment) -> None:
    for source in map(IPv4Address, (FIRST, SECOND)):
        assert admits(pair, "model_server", source, 8500) and admits(pair, "model_gateway", source, 8443)
    (vrrp,) = [rule for rule in firewall_rules(pair)["model_gateway"] if rule.protocol == "112"]
    assert vrrp.sources == (f"{FIRST}/32", f"{SECOND}/32")
    mlflow = {rule.sources for rule in firewall_rules(pair)["mlflow"] if "canaries" in rule.why}
    assert mlflow == {(f"{FIRST}/32", f"{SECOND}/32")}
    clients = inventory(pair)["_meta"]["hostvars"]["srv01"]["model_server_clients"]
    assert {FIRST, SECOND} <= set(clients)
    targets = [target.address for target in metrics_targets(pair, ()) if target.job == "model_gateway"]
    assert targets == [f"{FIRST}:8405", f"{SECOND}:8405"]


def test_one_gateway_has_no_shared_address() -> None:
    site = load_environment(ROOT / "tests/unit/rules/full.yaml").environment
    data = inventory(site)
    assert "model_gateway_shared_address" not in data["_meta"]["hostvars"]["gwm01"]
    assert "peer" not in data["model_gateway"]["vars"]["model_gateway_follow"]
