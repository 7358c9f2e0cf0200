"""Loading: all findings of a file at once, each located, and a broken part does not hide findings in other parts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from landbridge.environment import environment_from_config, find_environment, load_environment
from landbridge.environment.file.load import load_text
from landbridge.findings import DataPath, FindingsError
from landbridge.rules import check
from tests.unit.core.samples import GOOD, REMOVED, SHIPPED, changed, environment, findings, loaded

SIX = """\
config:
  aws:region: us-east-1
  landbridge:environment:
    owner: a@example.org
    cost_centre: "4711"
    onprem:
      cidr: 10.20.0.0/16
      nodes:
        - {hosts: "dgx[01-", platform: dgx-h100, address: 10.20.1.11}
      addresses: {ctl01: 10.20.0.2, db01: 10.20.0.3, login01: 10.20.0.4, nfs01: 10.20.0.5, gw01: 10.20.0.6, mlops01: 10.20.0.7}
      aws_credentials: files
      driver: {install: false}
    aws:
      cidr: 10.20.128.0/17
      pools:
        - {name: p5, instance: p5.49xlarge, max_nodes: -1, capacity: [{kind: on_demand, zones: [use1-az4]}], image: ami-0123456789abcdef0}
    link: {kind: vpn, gateway_address: 3.3.3.3}
    secrets: {slurm_key: {config: landbridge:slurm-key}}
    state: {backend: local}
"""


def test_one_run_reports_six_mistakes_with_line_and_column() -> None:
    reported = check(load_text(SIX, Path("stacks/Pulumi.six.yaml")))
    assert [(f.rule, f.line, f.column) for f in reported] == [
        ("unknown-key", 5, 5),
        ("node-range", 9, 19),
        ("overlapping-cidrs", 14, 13),
        ("unknown-instance-type", 16, 32),
        ("out-of-range", 16, 56),
        ("unknown-key", 18, 15),
    ]
    assert all(f.file == "stacks/Pulumi.six.yaml" for f in reported)
    fixes = {f"{f.rule} {f.line}": f.fix or "" for f in reported}
    assert fixes["unknown-key 5"] == 'did you mean "cost_center"?'
    assert "p5.4" in fixes["unknown-instance-type 16"]
    assert "docs/how-to/keep-secrets.md" in fixes["unknown-key 18"], "a key of an earlier version"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_environments_have_no_errors(path: Path) -> None:
    loaded_file = load_environment(path)
    assert loaded_file.environment is not None, loaded_file.findings
    errors = [finding for finding in check(loaded_file) if finding.severity == "error"]
    assert not errors
    assert loaded_file.environment.name == path.name.split(".")[1]


def test_the_valid_environment_has_no_findings() -> None:
    assert findings() == ()


@pytest.mark.parametrize(
    ("path", "value", "rule", "message"),
    [
        (("owner",), REMOVED, "missing-key", "owner is missing"),
        (("ownr",), "x", "unknown-key", "ownr"),
        (("owner",), 5, "wrong-type", 'write it in quotes: "5"'),
        (("cost_center",), 4711, "wrong-type", 'write it in quotes: "4711"'),
        (("scheduler", "slurm", "version"), 26.05, "wrong-type", 'write it in quotes: "26.05"'),
        (("scheduler", "slurm", "version"), "26.5", "unknown-value", 'did you mean "26.05"?'),
        (("users",), {}, "wrong-type", "a list"),
        (("users",), "alice", "wrong-type", "a list"),
        (("onprem",), [], "wrong-type", "a mapping"),
        (("onprem", "cidr"), "10.20.0.1/16", "wrong-format", "the range is 10.20.0.0/16"),
        (("onprem", "cidr"), "10.20.0.0/33", "wrong-format", "10.20.0.0/33"),
        (("onprem", "cidr"), 5, "wrong-type", "must be text"),
        (("onprem", "nodes", 0, "address"), "10.20.1.300", "wrong-format", "300"),
        (("onprem", "nodes", 0, "hosts"), "dgx[4-1]", "node-range", "downwards"),
        (("onprem", "addresses", "CTL_01"), "10.20.0.9", "wrong-format", "CTL_01"),
        (("aws", "nat"), "sngle", "unknown-value", 'did you mean "single"?'),
        (("aws", "pools", 0, "max_nodes"), -1, "out-of-range", "at least 1"),
        (("aws", "pools", 0, "max_nodes"), "4", "wrong-type", "a whole number"),
        (("aws", "pools", 0, "max_nodes"), True, "wrong-type", "a whole number"),
        (("aws", "pools", 0, "max_nodes"), 1.5, "wrong-type", "a whole number"),
        (("aws", "pools", 0, "capacity"), [], "out-of-range", "at least 1 needed"),
        (("aws", "pools", 0, "capacity", 0, "kind"), "on_demnd", "unknown-value", 'did you mean "on_demand"?'),
        (("aws", "pools", 0, "capacity", 0, "kind"), REMOVED, "missing-key", "on_demand"),
        (
            ("aws", "pools", 0, "capacity", 0),
            {"kind": "capacity_block", "zone": "use1-az4"},
            "missing-key",
            "reservation is missing",
        ),
        (
            ("aws", "pools", 0, "capacity", 0),
            {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0"},
            "missing-key",
            "zone is missing",
        ),
        (("aws", "pools", 0, "capacity", 0, "zones"), ["us-east-1a"], "wrong-format", "us-east-1a"),
        (("onprem", "packages"), {"apt_proxy": "http://10.20.0.9:314200"}, "wrong-format", "a port from 1 to 65535"),
        (("onprem", "packages"), {"apt_proxy": "http://10.20.0.9:3142:1/"}, "wrong-format", "a port from 1 to 65535"),
        (("onprem", "packages"), {"apt_proxy": "http://mirror]/"}, "wrong-format", "is not valid"),
        (("link", "kind"), "vnp", "unknown-value", 'did you mean "vpn"?'),
        (("link", "onprem_asn"), 0, "out-of-range", "at least 1"),
        (("scheduler", "overrides", "slurm_conf", "A"), [1], "wrong-type", "[1]"),
        (("budget", "monthly_usd"), -1, "out-of-range", "at least 0"),
        (("name",), "x", "unknown-key", "the file's name"),
    ],
)
def test_one_mistake_gives_one_finding(path: DataPath, value: Any, rule: str, message: str) -> None:
    errors = [finding for finding in findings({path: value}) if finding.severity == "error"]
    assert [finding.rule for finding in errors] == [rule], errors
    assert message in f"{errors[0].message} {errors[0].fix}"
    assert errors[0].line is not None and errors[0].line > 3


def test_two_keys_missing_in_one_item_are_two_findings_and_drop_one_item() -> None:
    block, good = {"kind": "capacity_block"}, {"kind": "on_demand", "zones": ["use1-az9"]}
    reported = findings({("aws", "pools", 0, "capacity"): [block, good]})
    assert [finding.rule for finding in reported] == ["missing-key", "missing-key", "unknown-zone"]
    assert reported[2].path == ("aws", "pools", 0, "capacity", 1, "zones", 0)


def test_a_misspelt_section_is_still_checked_inside() -> None:
    reported = findings({("shceduler",): {"slurm": {"version": "1"}}, ("scheduler",): REMOVED})
    errors = [finding for finding in reported if finding.severity == "error"]
    assert [finding.rule for finding in errors] == ["unknown-key", "unknown-value"]
    assert errors[1].path == ("shceduler", "slurm", "version")
    # The consequence of the missing section is a further warning.
    assert {finding.rule for finding in reported if finding not in errors} == {"burst-without-accounts"}


def test_items_after_a_dropped_one_keep_their_index() -> None:
    bad = [
        {"hosts": "a1", "platform": "dgx-h100", "address": "10.20.2.1"},
        7,
        {"hosts": "b1", "platform": "dgx-h1OO", "address": "10.20.2.2"},
    ]
    reported = findings({("onprem", "nodes"): bad})
    assert [(finding.rule, finding.path) for finding in reported] == [
        ("wrong-type", ("onprem", "nodes", 1)),
        ("unknown-platform", ("onprem", "nodes", 2, "platform")),
    ]


def test_values_missing_from_the_file_cause_no_further_findings() -> None:
    # The placeholder of the broken range would overlap; the missing section would leave no nodes.
    assert [f.rule for f in findings({("onprem", "cidr"): "x", ("aws", "cidr"): "10.20.0.0/16"})] == ["wrong-format"]
    assert [f.rule for f in findings({("onprem", "nodes"): 5, ("aws", "pools"): REMOVED})] == ["wrong-type"]
    assert [f.rule for f in findings({("onprem",): REMOVED})] == ["controller-location"]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", ["missing-key"]),
        ("# nothing\n", ["missing-key"]),
        ("5", ["wrong-type"]),
        ("config: 5", ["wrong-type"]),
        ("confg: {}", ["missing-key", "unknown-key"]),
        ("config: {aws:region: us-east-1}", ["missing-key"]),
        ("config: {landbridge:environment: [], aws:region: 7}", ["wrong-type", "wrong-type"]),
        ("config: {landbridge:environmnt: {}}", ["missing-key", "missing-key"]),
    ],
)
def test_faults_outside_the_environment_are_findings_of_line_1(text: str, rules: list[str]) -> None:
    loaded_file = load_text(text, Path("Pulumi.x.yaml"))
    assert loaded_file.environment is None
    assert sorted(finding.rule for finding in loaded_file.findings) == rules
    assert all(finding.line == 1 for finding in loaded_file.findings)


def test_values_have_their_types_and_cannot_be_changed() -> None:
    good = environment()
    assert good.link.gateway_address == IPv4Address("3.3.3.3")
    assert good.aws.pools[0].capacity[0].kind == "on_demand"
    assert good.host_addresses()["dgx02"] == "10.20.1.12"
    with pytest.raises(ValidationError):
        good.aws.pools[0].max_nodes = 9  # type: ignore[misc]


def test_a_value_has_its_line_and_column() -> None:
    good = loaded()
    line, column = good.locate(("aws", "pools", 0, "instance"))
    assert changed({}).splitlines()[line - 1][column - 1 :].startswith('"p5.48xlarge"')


def test_encrypted_keys_are_known_by_name_only() -> None:
    beside = {"landbridge:slurm-key": {"secure": "v1:abc"}}
    assert loaded({}, beside=beside).secure_keys == {"landbridge:slurm-key"}


def test_the_configuration_of_pulumi_gives_the_same_environment() -> None:
    assert environment_from_config("test", "us-east-1", GOOD) == environment()


@pytest.mark.parametrize(
    "printed",
    ["2027-01-09 06:30:00 +0000 UTC", "2027-01-09 07:30:00.5 +0100 CET", "2027-01-09 01:30:00 -0500 -0500"],
)
def test_an_unquoted_timestamp_in_gos_format_is_accepted(printed: str) -> None:
    """Pulumi's engine parses the file: it passes a YAML timestamp in Go's text format."""
    window = {"starts": printed, "ends": "2027-01-09T18:00:00Z"}
    parsed = environment_from_config("test", "us-east-1", {**GOOD, "maintenance": [window]})
    assert parsed.maintenance[0].starts.astimezone(UTC).replace(microsecond=0) == datetime(
        2027, 1, 9, 6, 30, tzinfo=UTC
    )
    with pytest.raises(FindingsError, match="date and time"):
        environment_from_config("test", "us-east-1", {**GOOD, "maintenance": [{**window, "starts": "tomorrow, UTC"}]})


def test_an_invalid_configuration_raises_with_all_findings() -> None:
    wrong: Mapping[str, Any] = {**GOOD, "link": {"kind": "vpn"}, "users": 5}
    with pytest.raises(FindingsError) as caught:
        environment_from_config("test", "us-east-1", wrong)
    assert sorted(finding.rule for finding in caught.value.findings) == ["missing-key", "wrong-type"]


def test_an_environment_file_is_found_from_a_subdirectory_of_a_checkout(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: x\n")
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text("config: {}\n")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    assert find_environment("prod", tmp_path / "deep" / "er") == tmp_path / "stacks" / "Pulumi.prod.yaml"
    with pytest.raises(FindingsError, match='did you mean "prod"'):
        find_environment("prd", tmp_path)
    with pytest.raises(FindingsError, match="neither a Pulumi"):
        find_environment("prod", Path("/"))


def test_an_unreadable_file_is_a_finding(tmp_path: Path) -> None:
    assert [finding.rule for finding in load_environment(tmp_path / "no.yaml").findings] == ["unreadable-file"]
    assert [finding.rule for finding in load_environment(tmp_path).findings] == ["unreadable-file"]


def test_a_variant_named_like_one_of_its_keys_has_findings_with_correct_paths() -> None:
    reservation = {"kind": "reservation", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4", "count": 0}
    path = ("aws", "pools", 0, "capacity", 0)
    assert [f.path for f in loaded({path: reservation}).findings] == [(*path, "count")]
    assert [f.path for f in loaded({path: {**reservation, "count": 1, "reservation": 5}}).findings] == [
        (*path, "reservation")
    ]
