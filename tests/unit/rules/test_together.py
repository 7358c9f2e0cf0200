"""Unreadable parts of a file do not hide findings in the other parts."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.findings import DataPath
from tests.thorough import examples
from tests.unit.core.samples import GOOD, REMOVED, findings

POOLS: DataPath = ("aws", "pools")
POOL = GOOD["aws"]["pools"][0]
Changes = dict[DataPath, Any]

#: Mistakes in all parts of a file, each with the rule that must report it and its path.
MISTAKES: list[tuple[Changes, str, DataPath]] = [
    ({("aws", "logs"): {"retention_days": 31}}, "log-retention", ("aws", "logs", "retention_days")),
    ({("aws", "tags"): {"aws:x": "y"}}, "tag-reserved", ("aws", "tags", "aws:x")),
    ({("aws", "ingress"): [{"source": "0.0.0.0/0", "ports": "22", "why": "x"}]}, "administration-open", ("aws", "ingress", 0, "source")),
    ({("aws", "iam"): {"node_statements": [{"actions": ["*"], "resources": ["*"], "why": "x"}]}}, "iam-all-permissions", ("aws", "iam", "node_statements", 0, "actions", 0)),
    ({("link", "onprem_asn"): 7224}, "reserved-asn", ("link", "onprem_asn")),
    ({("users", 2): {"name": "alice", "uid": 20003}}, "duplicate-user", ("users", 2, "name")),
    ({("scheduler", "overrides"): {"slurm_conf": {"ClusterName": "x"}}}, "protected-setting", ("scheduler", "overrides", "slurm_conf", "ClusterName")),
    ({("scheduler", "partitions", "a"): {"nodes": ["dgx[01-09]"]}}, "unknown-node", ("scheduler", "partitions", "a", "nodes", 0)),
    ({("maintenance",): [{"starts": "2027-06-02T06:00:00Z", "ends": "2027-06-01T06:00:00Z"}]}, "maintenance-window", ("maintenance", 0, "ends")),
    ({("onprem", "addresses", "spare"): "10.20.0.90"}, "unused-address", ("onprem", "addresses", "spare")),
    ({("aws", "pools", 1): {**POOL, "name": "second", "instance": "p5.49xlarge"}}, "unknown-instance-type", ("aws", "pools", 1, "instance")),
    ({("data_classes", "secret"): {"sites": ["aws"], "regime": "classified"}}, "class-not-in-region", ("data_classes", "secret", "sites")),
    ({("budget", "accounts", "visoin"): {"monthly_usd": 1}}, "unknown-account", ("budget", "accounts", "visoin")),
]  # fmt: skip
#: Parts that cannot be read, in places that no mistake above depends on, each with the rule that reports it.
BROKEN: list[tuple[Changes, str]] = [
    ({("owner",): 5}, "wrong-type"),
    ({("ownr",): "x"}, "unknown-key"),
    ({("cost_center",): ["4711"]}, "wrong-type"),
    ({("onprem", "domain"): "Not A Domain"}, "wrong-format"),
    ({("onprem", "access"): "ansible"}, "wrong-type"),
    ({("onprem", "packages"): {"apt_proxy": "ftp://x"}}, "wrong-format"),
    ({("aws", "nat"): "many"}, "unknown-value"),
    ({("aws", "account"): 123456789012}, "wrong-type"),
    ({("aws", "lease_minutes"): 10**9}, "out-of-range"),
    ({("aws", "protect"): "maybe"}, "wrong-type"),
    ({("aws", "secondary_cidrs"): ["100.64.0.1/16"]}, "wrong-format"),
    ({("aws", "quotas"): {"L-XYZ": 5}}, "wrong-format"),
    ({("link", "mtu"): 9000}, "out-of-range"),
    ({("link", "gateway_address"): "here"}, "wrong-format"),
    ({("storage", "data_hub"): {"kind": "gcs"}}, "unknown-value"),
    ({("storage", "cloud_scratch"): {"kind": "fsx_lustre", "capacity_gib": "big"}}, "wrong-type"),
    ({("scheduler", "slurm"): {"version": 26.05}}, "wrong-type"),
    ({("scheduler", "auth"): None}, "unknown-value"),
    ({("mlops", "mlflow"): {"port": 99999}}, "out-of-range"),
    ({("mlops", "registry"): {"prot": 5}}, "unknown-key"),
    ({("onprem", "nodes", 0, "address"): REMOVED}, "missing-key"),
]  # fmt: skip


def merged(parts: list[Changes]) -> Changes:
    """Return all changes in one mapping."""
    return {path: value for part in parts for path, value in part.items()}


@pytest.fixture(scope="module")
def mistakes() -> Changes:
    return merged([changes for changes, _, _ in MISTAKES])


def reported(changes: Changes) -> set[tuple[str, DataPath]]:
    """Return rule and path of each finding of check."""
    return {(finding.rule, finding.path) for finding in findings(changes)}


EXPECTED = {(rule, path) for _, rule, path in MISTAKES}


def test_all_mistakes_are_found_in_one_run(mistakes: Changes) -> None:
    assert reported(mistakes) >= EXPECTED


@pytest.mark.parametrize(
    ("broken", "rule"), BROKEN, ids=lambda value: next(iter(value), "") if isinstance(value, dict) else ""
)
def test_one_broken_part_hides_nothing(broken: Changes, rule: str, mistakes: Changes) -> None:
    result = reported({**mistakes, **broken})
    assert result >= EXPECTED
    assert rule in {name for name, _ in result}


@settings(deadline=None, max_examples=examples(50, 150))
@given(st.lists(st.sampled_from(range(len(BROKEN))), min_size=2, max_size=len(BROKEN), unique=True))
def test_many_broken_parts_hide_nothing(chosen: list[int]) -> None:
    parts = [BROKEN[index] for index in chosen]
    result = findings({**merged([changes for changes, _, _ in MISTAKES]), **merged([changes for changes, _ in parts])})
    assert {(finding.rule, finding.path) for finding in result} >= EXPECTED
    rules = [finding.rule for finding in result]
    for _, rule in parts:
        assert rules.count(rule) >= sum(rule == other for _, other in parts)


def test_two_mistakes_never_hide_each_other() -> None:
    hidden = []
    for (earlier, first, first_path), (later, second, second_path) in combinations(MISTAKES, 2):
        if not reported({**earlier, **later}) >= {(first, first_path), (second, second_path)}:
            hidden.append((first, second))
    assert hidden == []


def test_a_broken_item_of_a_list_hides_nothing_of_the_others() -> None:
    bad_first = {
        (*POOLS, 0): {**POOL, "max_nodes": "many"},
        (*POOLS, 1): {**POOL, "name": "b", "instance": "p5.49xlarge"},
        (*POOLS, 2): {**POOL, "nmae": "c"},
        (*POOLS, 3): {**POOL, "name": "d", "capacity": [{"kind": "on_demand", "zones": ["usw2-az1"]}]},
    }
    result = reported(bad_first)
    assert {
        ("wrong-type", (*POOLS, 0, "max_nodes")),
        ("unknown-instance-type", (*POOLS, 1, "instance")),
        ("unknown-key", (*POOLS, 2, "nmae")),
        ("unknown-zone", (*POOLS, 3, "capacity", 0, "zones", 0)),
    } <= result
