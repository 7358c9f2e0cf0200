"""Rules: for each at least one environment that breaks it, and that the good one breaks none."""

from typing import Any

import pytest

from landbridge.findings import DataPath
from landbridge.rules import RULES
from landbridge.rules.registry import FILE_RULES
from tests.unit.core.samples import GOOD, REMOVED, findings

Changes = dict[DataPath, Any]
POOL: DataPath = ("aws", "pools", 0)
CAPACITY: DataPath = (*POOL, "capacity", 0)
NODES: DataPath = ("onprem", "nodes")
ACCOUNTS: DataPath = ("scheduler", "accounts")
NODE = {"hosts": "smc[01-02]", "platform": "dgx-a100", "address": "10.20.1.31"}
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4"}
LEASED = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "10.99.0.1"}

# Rule, changes of the good environment, the place it must be reported at, and a word of what it must say.
BROKEN: list[tuple[str, Changes, DataPath, str]] = [
    ("overlapping-cidrs", {("aws", "cidr"): "10.20.128.0/17"}, ("aws", "cidr"), "on-prem"),
    ("overlapping-cidrs", {("onprem", "cidr"): "172.17.0.0/16"}, ("onprem", "container_cidrs", "docker"), "docker"),
    ("overlapping-cidrs", {("onprem", "container_cidrs"): {"pods": "10.60.1.0/24"}}, ("onprem", "container_cidrs", "pods"), "AWS"),
    ("overlapping-cidrs", {("link", "inside_cidrs"): ["169.254.10.0/30"] * 2}, ("link", "inside_cidrs", 1), "tunnel"),
    ("private-cidr", {("aws", "cidr"): "8.8.0.0/16"}, ("aws", "cidr"), "public"),
    ("vpc-size", {("aws", "cidr"): "10.0.0.0/12"}, ("aws", "cidr"), "/16"),
    ("vpc-size", {("aws", "cidr"): "10.60.0.0/26", (*POOL, "max_nodes"): 1}, ("aws", "cidr"), "/25"),
    ("vpc-size", {("aws", "cidr"): "10.60.0.0/24", ("aws", "nat"): "single"}, ("aws", "cidr"), "/22"),
    ("address-in-site", {(*NODES, 0, "address"): "10.21.0.1"}, (*NODES, 0, "address"), "dgx01"),
    ("address-in-site", {(*NODES, 0, "address"): "10.20.255.254"}, (*NODES, 0, "address"), "broadcast"),
    ("address-in-site", {(*NODES, 0, "address"): "255.255.255.255"}, (*NODES, 0, "address"), "past"),
    ("address-in-site", {("onprem", "addresses", "ctl01"): "10.20.0.0"}, ("onprem", "addresses", "ctl01"), "ctl01"),
    ("duplicate-address", {("onprem", "addresses", "ctl01"): "10.20.0.12"}, ("onprem", "addresses", "db01"), "ctl01"),
    ("duplicate-address", {(*NODES, 1): {**NODE, "address": "10.20.1.12"}}, (*NODES, 1, "address"), "dgx02"),
    ("duplicate-host", {(*NODES, 1): {**NODE, "hosts": "dgx02"}}, (*NODES, 1, "hosts"), "dgx02"),
    ("duplicate-host", {("onprem", "addresses", "dgx01"): "10.20.0.99"}, (*NODES, 0, "hosts"), "dgx01"),
    ("service-without-address", {("onprem", "addresses", "gw01"): REMOVED}, ("onprem", "services", "gateway"), "gw01"),
    ("service-without-address", {("onprem", "services"): {"login": ["l1"]}}, ("onprem", "services", "login", 0), "l1"),
    ("unused-address", {("onprem", "addresses", "lgn01"): "10.20.0.99"}, ("onprem", "addresses", "lgn01"), "lgn01"),
    ("unknown-platform", {(*NODES, 0, "platform"): "dgx-h10"}, (*NODES, 0, "platform"), '"dgx-h100"'),
    ("unknown-instance-type", {(*POOL, "instance"): "p5.49xlarge"}, (*POOL, "instance"), "p5.49xlarge"),
    ("unknown-zone", {(*CAPACITY, "zones"): ["use1-az4", "usw2-az1"]}, (*CAPACITY, "zones", 1), "us-east-1"),
    ("unknown-zone", {CAPACITY: {**BLOCK, "zone": "usw2-az1"}}, (*CAPACITY, "zone"), "usw2-az1"),
    ("type-not-in-zone", {(*POOL, "instance"): "p5en.48xlarge"}, (*CAPACITY, "zones", 0), "use1-az6"),
    ("type-not-in-zone", {(*POOL, "instance"): "p5e.48xlarge"}, (*POOL, "instance"), "us-east-2"),
    ("subnet-too-small", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "max_nodes"): 200}, (*POOL, "max_nodes"), "123"),
    ("subnet-too-small", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "nics"): "legacy"}, (*POOL, "max_nodes"), "128"),
    ("slurm-without-packages", {("scheduler", "slurm"): {"version": "25.11"}}, ("scheduler", "slurm", "version"), "26.05"),
    ("duplicate-pool", {("aws", "pools", 1): {**GOOD["aws"]["pools"][0]}}, ("aws", "pools", 1, "name"), "p5"),
    ("duplicate-pool", {(*POOL, "name"): "gpu"}, (*POOL, "name"), "Landbridge"),
    ("purchase-not-offered", {(*POOL, "instance"): "g5.48xlarge", CAPACITY: BLOCK}, (*CAPACITY, "kind"), "spot"),
    ("block-order", {(*POOL, "capacity", 1): BLOCK}, (*POOL, "capacity", 1), "paid for"),
    ("block-window", {CAPACITY: {**BLOCK, "starts": "2026-12-02T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}}, (*CAPACITY, "ends"), "before"),
    ("block-window", {CAPACITY: {**BLOCK, "starts": "2026-12-02T00:00:00", "ends": "2026-12-03T00:00:00"}}, (*CAPACITY, "ends"), "time zone"),
    ("spot-alone", {CAPACITY: {"kind": "spot"}}, (*POOL, "capacity"), "spot"),
    ("lustre-size", {("storage", "cloud_scratch"): {"kind": "fsx_lustre", "capacity_gib": 3000}}, ("storage", "cloud_scratch", "capacity_gib"), "4800"),
    ("not-built-yet", {("mlops", "registry"): {}}, ("mlops", "registry"), "registry"),
    ("not-built-yet", {("link",): LEASED}, ("link", "kind"), "Direct Connect"),
    ("same-asn", {("link", "onprem_asn"): 64512}, ("link", "onprem_asn"), "64512"),
    ("reserved-asn", {("link", "onprem_asn"): 23456}, ("link", "onprem_asn"), "23456"),
    ("aws-asn-private", {("link", "aws_asn"): 1}, ("link", "aws_asn"), "transit gateway"),
    ("gateway-address", {("link", "gateway_address"): "192.168.1.1"}, ("link", "gateway_address"), "not a public"),
    ("gateway-address", {("link", "gateway_address"): "10.20.0.1"}, ("link", "gateway_address"), "inside a site"),
    ("gateway-address", {("link", "gateway_address"): "198.51.100.10"}, ("link", "gateway_address"), "example"),
    ("inside-cidr", {("link", "inside_cidrs"): ["169.254.5.0/30", "169.254.11.0/30"]}, ("link", "inside_cidrs", 0), "kept by AWS"),
    ("inside-cidr", {("link", "inside_cidrs"): ["169.254.9.0/30", "10.1.0.0/30"]}, ("link", "inside_cidrs", 1), "not a /30"),
    ("one-tunnel", {("link", "datapath"): "userspace"}, ("link", "datapath"), "one of the two"),
    ("unknown-data-class", {(*ACCOUNTS, "vision", "data_class"): "intrenal"}, (*ACCOUNTS, "vision", "data_class"), '"internal"'),
    ("unknown-data-class", {("mlops", "mlflow"): {"data_class": "x"}}, ("mlops", "mlflow", "data_class"), "x"),
    ("class-without-place", {("onprem", "nodes"): [], (*ACCOUNTS, "vision", "data_class"): "restricted"}, (*ACCOUNTS, "vision", "data_class"), "no nodes"),
    ("classified-in-aws", {("data_classes", "secret"): {"sites": ["aws"], "regime": "itar"}}, ("data_classes", "secret", "sites"), "GovCloud"),
    ("classified-in-aws", {("data_classes", "secret"): {"sites": ["aws"], "regime": "classified"}}, ("data_classes", "secret", "sites"), "on-prem only"),
    ("duplicate-user", {("users", 1, "name"): "alice"}, ("users", 1, "name"), "alice"),
    ("duplicate-user", {("users", 1, "uid"): 20001}, ("users", 1, "uid"), "20001"),
    ("unknown-user", {(*ACCOUNTS, "vision", "users", 0): "alcie"}, (*ACCOUNTS, "vision", "users", 0), '"alice"'),
    ("unknown-account", {("budget",): {"accounts": {"visoin": {"monthly_usd": 5}}}}, ("budget", "accounts", "visoin"), '"vision"'),
    ("unknown-account", {(*ACCOUNTS, "vision", "parent"): "lab"}, (*ACCOUNTS, "vision", "parent"), "lab"),
    ("unknown-account", {(*ACCOUNTS, "vision", "parent"): "vision"}, (*ACCOUNTS, "vision", "parent"), "own ancestor"),
    ("budget-sum", {("budget",): {"monthly_usd": 5, "accounts": {"vision": {"monthly_usd": 6}}}}, ("budget", "monthly_usd"), "6"),
    ("artifacts-stay-home", {("mlops", "mlflow"): {"data_class": "restricted"}}, ("mlops", "mlflow", "data_class"), "restricted"),
    ("no-nodes", {("onprem", "nodes"): [], ("aws", "pools"): []}, ("onprem", "nodes"), "neither"),
    ("node-name-clash", {(*POOL, "name"): "n", (*NODES, 1): {**NODE, "hosts": "n-[1-2]"}}, (*POOL, "name"), "n-1"),
    ("unknown-node", {("scheduler", "partitions"): {"x": {"nodes": ["dgx[02-03]"]}}}, ("scheduler", "partitions", "x", "nodes", 0), "dgx03"),
    ("unknown-node", {("scheduler", "partitions"): {"x": {}}}, ("scheduler", "partitions", "x"), "no nodes"),
    ("two-defaults", {("scheduler", "partitions"): {"gpu": {"default": True}, "p5": {"default": True}}}, ("scheduler", "partitions", "p5", "default"), "gpu"),
    ("protected-setting", {("scheduler", "overrides"): {"slurm_conf": {"clusterName": "x"}}}, ("scheduler", "overrides", "slurm_conf", "clusterName"), "the environment's name"),
    ("missing-secret", {("secrets",): {"slurm_key": {"config": "landbridge:k"}}}, ("secrets", "slurm_key", "config"), "landbridge:k"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "changes", "path", "says"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_broken_rule_is_reported_where_it_is_broken(rule: str, changes: Changes, path: DataPath, says: str) -> None:
    found = [finding for finding in findings(changes) if finding.rule == rule]
    assert path in [finding.path for finding in found], findings(changes)
    assert any(says in f"{finding.message} {finding.fix}" for finding in found if finding.path == path), found
    assert all(finding.line is not None for finding in found)


def test_an_unknown_region_is_reported_at_its_own_key() -> None:
    found = findings(region="us-east-01")
    assert [(f.rule, f.line, f.fix) for f in found if f.severity == "error"] == [
        ("unknown-region", 3, 'did you mean "us-east-1"?')
    ]


def test_every_rule_has_a_reason_and_a_row() -> None:
    rules = {**RULES, **FILE_RULES}
    assert all((function.__doc__ or "").strip() for function in rules.values())
    assert set(rules) == {rule for rule, *_ in BROKEN} | {"unknown-region"}


def test_a_cycle_of_parents_ends() -> None:
    accounts = {
        name: {"data_class": "internal", "parent": parent} for name, parent in (("a", "b"), ("b", "c"), ("c", "b"))
    }
    found = findings({ACCOUNTS: accounts})
    assert {finding.path[2] for finding in found} == {"b", "c"}


def test_an_emulated_aws_may_have_an_example_gateway() -> None:
    emulated = {
        ("aws", "endpoints"): {"operator": "http://127.0.0.1:4580"},
        ("link", "gateway_address"): "198.51.100.10",
    }
    assert findings(emulated) == ()
