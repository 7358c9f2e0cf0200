"""Hosts of model servers in AWS in the plan: one list of openings at both ends, no way to training, and nothing of on-prem classes."""

import json
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.iam_policies import ArnContext, start_and_stop
from landbridge.plan.aws.access.identity import documents, identity_args
from landbridge.plan.aws.model_servers import ModelServersArgs, model_servers_args
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.cost import aws_spend
from landbridge.plan.network.network import network_args
from landbridge.plan.network.services.serving import model_slots
from landbridge.plan.policy_document import document
from landbridge.plan.serving.gateway import gateway_settings
from landbridge.plan.site.firewall import firewall_rules
from landbridge.serving.follow.config import load_follow_config
from landbridge.serving.follow.instance_power import needed_hosts
from landbridge.serving.follow.scaler import ABSENT, used_hosts, wanted_count
from tests.unit.core.samples import environment
from tests.unit.rules.serving.rows_serving import in_aws
from tests.unit.served_models.gateway import STRANGER, gateway
from tests.unit.served_models.site_ca import write_certificates

ROOT = Path(__file__).parents[3]
HOSTS = ("serve-az4-01", "serve-az4-02")
ADDRESSES = tuple(IPv4Address(f"10.60.32.{last}") for last in (16, 17))
GATEWAY = "10.20.0.33"


@pytest.fixture(scope="module")
def site() -> Environment:
    return load_environment(ROOT / "tests/unit/rules/full.yaml").environment


@pytest.fixture(scope="module")
def args(site: Environment) -> ModelServersArgs:
    planned = model_servers_args(site)
    assert planned is not None
    return planned


def test_hosts_have_planned_addresses_in_a_reserved_range_and_are_configured_with_the_site(
    site: Environment, args: ModelServersArgs
) -> None:
    assert [(each.host, each.address) for each in args.machines] == list(zip(HOSTS, map(str, ADDRESSES), strict=True))
    (subnet,) = (each for each in network_args(site).private if each.zone == "use1-az4")
    assert any(address in IPv4Network(each.cidr) for each in subnet.reserved for address in ADDRESSES)
    data = inventory(site)
    assert data["model_server"]["hosts"] == ["srv01", "srv02", *HOSTS]
    variables = data["_meta"]["hostvars"][HOSTS[0]]
    assert variables["ansible_host"] == str(ADDRESSES[0])
    assert variables["landbridge_monitoring"] is True
    assert [each["name"] for each in variables["model_server_services"]] == ["digits"]
    assert data["model_gateway"]["vars"]["model_gateway_instances"]["hosts"] == list(HOSTS)


def test_the_security_group_opens_what_the_firewall_of_model_servers_opens(
    site: Environment, args: ModelServersArgs
) -> None:
    opened = {
        (rule.peer, rule.ports[0])
        for rule in args.security_group_rules
        if rule.direction == "in" and rule.key.startswith("models-") and rule.ports is not None
    }
    (rule,) = (each for each in firewall_rules(site)["model_server"] if "gateway" in each.why)
    assert opened == {(source, int(port)) for source in rule.sources for port in rule.ports}
    assert {peer for peer, _ in opened} == {f"{GATEWAY}/32"}
    others = {each.why for each in args.security_group_rules if each.direction == "in"} - {rule.why}
    metrics = "Prometheus reads the metrics of hosts and model servers"
    assert others == {"operators", "path MTU discovery, and netcheck", metrics}


def test_no_host_of_the_site_besides_the_gateway_and_the_log_store_admits_them(site: Environment) -> None:
    for group, rules in firewall_rules(site).items():
        for rule in rules:
            admitted = [
                address
                for address in ADDRESSES
                if rule.sources and any(address in IPv4Network(source) for source in rule.sources)
            ]
            if admitted:
                assert group in ("model_gateway", "site_dns", "log_store"), (group, rule)


def test_no_node_in_aws_admits_what_leaves_them(site: Environment, args: ModelServersArgs) -> None:
    leaving = [rule for rule in args.security_group_rules if rule.direction == "out"]
    assert leaving
    for pool in site.aws.pools:
        for rule in pool_args(site, pool, {}).security_group_rules:
            if rule.direction == "out" or rule.peer == "self":
                continue
            admits = any(address in IPv4Network(rule.peer) for address in ADDRESSES)
            for out in leaving if admits else ():
                assert rule.ports is not None and out.ports is not None
                is_apart = out.ports[1] < rule.ports[0] or rule.ports[1] < out.ports[0]
                assert is_apart or out.protocol != rule.protocol, (rule, out)


def test_they_have_no_role_and_the_gateway_one_for_starts_and_stops(site: Environment) -> None:
    assert identity_args(site).hosts["serving"] == ("gwm01",)
    rights = Document.of("serving", document(start_and_stop(ArnContext("full", "aws", "us-east-1", "123456789012"))))
    instance = "arn:aws:ec2:us-east-1:123456789012:instance/i-1"
    tags = {"aws:ResourceTag/landbridge:cluster": "full", "aws:ResourceTag/landbridge:serving": "model-server"}
    cases: list[tuple[str, dict[str, str], bool]] = [
        ("ec2:StartInstances", tags, True),
        ("ec2:StopInstances", tags, True),
        ("ec2:DescribeInstances", {}, True),
        ("ec2:TerminateInstances", tags, False),
        ("ec2:ModifyInstanceAttribute", tags, False),
        ("ec2:CreateTags", tags, False),
        ("ec2:StartInstances", {**tags, "aws:ResourceTag/landbridge:cluster": "other"}, False),
        ("ec2:StopInstances", {**tags, "aws:ResourceTag/landbridge:serving": "other"}, False),
        ("ec2:StopInstances", {"aws:ResourceTag/landbridge:cluster": "full"}, False),
        ("s3:GetObject", {}, False),
    ]
    for action, context, allowed in cases:
        request = Request("arn:aws:iam::123456789012:role/full-serving", action, instance, context)
        assert evaluate(request, Policies((rights,))).allowed is allowed, (action, context)


def test_the_gateway_may_start_hosts_whose_disks_have_a_key_of_the_organisation(site: Environment) -> None:
    place = ArnContext("full", "aws", "us-east-1", "123456789012")
    args = identity_args(site)
    arns = {plan.data_class: f"arn:aws:x:::{plan.data_class}" for plan in args.jobs}
    written = documents(args, place, arns, arns, ["node"], arns, "secret")
    rights = Policies((Document.of("serving", written.serving),))
    through = {"kms:ViaService": "ec2.us-east-1.amazonaws.com", "kms:GrantIsForAWSResource": "true"}
    (key,) = site.aws.disk_keys
    for action, resource, context, allowed in (
        ("kms:CreateGrant", key, through, True),
        ("kms:CreateGrant", key, {}, False),
        ("kms:CreateGrant", f"{key}-other", through, False),
        ("kms:Decrypt", key, through, False),
    ):
        request = Request("arn:aws:iam::123456789012:role/full-serving", action, resource, context)
        assert evaluate(request, rights).allowed is allowed, (action, context)


def test_volumes_of_what_stops_cost_money(site: Environment) -> None:
    descriptions = [line.description for line in aws_spend(site).lines]
    assert "80 GiB volumes of model servers" in descriptions
    unpriced = [item.description for item in aws_spend(site).unpriced]
    assert "2 x model server, m7i.xlarge, if all of them run" in [*descriptions, *unpriced]


def test_a_model_of_an_on_prem_class_has_no_slot_in_aws_and_no_path_of_the_export() -> None:
    changes = in_aws()
    key = ("serving",)
    other = {
        "model": "secret",
        "data_class": "restricted",
        "replicas": 3,
        "port": 8600,
        "accounts": ["clinic"],
        "canary": {},
        "scale": {"host_rate": 1},
    }
    changes[key]["services"]["secret"] = other
    changes["scheduler", "accounts", "clinic"] = {"users": ["bob"], "data_class": "restricted"}
    built = environment(changes)
    assert {slot.service for slot in model_slots(built) if slot.host == HOSTS[0]} == {"digits"}
    settings = gateway_settings(built)
    assert settings is not None
    assert settings.away_paths == (f"/landbridge/hosts/{HOSTS[0]}", "/landbridge/models/digits/")
    by_name = {each.name: {server.host for server in each.servers} for each in settings.services}
    assert by_name == {"digits": {"srv01", "srv02", HOSTS[0]}, "secret": {"srv01", "srv02"}}


def test_the_next_host_takes_the_place_of_one_without_capacity(site: Environment, tmp_path: Path) -> None:
    settings = inventory(site)["model_gateway"]["vars"]["model_gateway_follow"]
    file = tmp_path / "follow.json"

    file.write_text(json.dumps({**settings, "state": str(tmp_path), "orders": str(tmp_path / "orders.json")}))
    config = load_follow_config(file)
    (service,) = config.services
    scale: dict[str, Any] = {"hosts": 3}
    (tmp_path / "scale-digits.json").write_text(json.dumps(scale))
    assert used_hosts(config, service) == ("srv01", "srv02", HOSTS[0])
    (tmp_path / ABSENT).parent.mkdir()
    (tmp_path / ABSENT).write_text(json.dumps([HOSTS[0]]))
    assert used_hosts(config, service) == ("srv01", "srv02", HOSTS[1])
    assert wanted_count(config, replace(service, scale=None)) == 4


def test_all_hosts_run_while_the_operators_order_holds(site: Environment, tmp_path: Path) -> None:
    settings = inventory(site)["model_gateway"]["vars"]["model_gateway_follow"]
    file, orders = tmp_path / "follow.json", tmp_path / "orders.json"
    file.write_text(json.dumps({**settings, "state": str(tmp_path), "orders": str(orders)}))
    config = load_follow_config(file)
    (tmp_path / "scale-digits.json").write_text(json.dumps({"hosts": 1}))
    assert needed_hosts(config, HOSTS, 1000.0) == (frozenset(), False)
    orders.write_text(json.dumps({"scale": {}, "hosts_until": 1001.0}))
    assert needed_hosts(config, HOSTS, 1000.0) == (frozenset(HOSTS), False)
    assert needed_hosts(config, HOSTS, 1001.0) == (frozenset(), False)
    orders.write_text('{"hosts_until": "soon"}')
    assert needed_hosts(config, HOSTS, 1000.0) == (frozenset(), False)


def test_the_gateway_gives_hosts_in_aws_their_models_only(tmp_path: Path) -> None:
    authority, certificates = write_certificates(tmp_path, "localhost")
    allowed = ("/landbridge/hosts/serve-az4-01", "/landbridge/models/digits/")
    places = {"export": str(tmp_path / "export.sock"), "exporter": "other"}
    cases = {
        "/landbridge/hosts/serve-az4-01": 503,
        "/landbridge/models/digits/1/model.json": 503,
        "/landbridge/models/secret/1/model.json": 403,
        "/landbridge/models/digits-2/1/model.json": 403,
        "/landbridge/hosts/srv01": 403,
        "/landbridge/state/secret": 403,
    }
    # No export listens behind HAProxy: what it permits gets the status 503.
    for away, expected in ((("127.0.0.1",), cases), (("127.0.0.9",), dict.fromkeys(cases, 503))):
        away_places = {**places, "away": away, "away_paths": allowed}
        with gateway(tmp_path, authority, certificates, {"a": ()}, away_places) as started:
            assert {path: started.get("GET", path, token=STRANGER) for path in cases} == expected
