"""Loading: every finding of a file at once, each at its place, and a broken part hides nothing in the rest."""

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
    aws:
      cidr: 10.20.128.0/17
      pools:
        - {name: p5, instance: p5.49xlarge, max_nodes: -1, capacity: [{kind: on_demand, zones: [use1-az4]}]}
    link: {kind: vpn, gateway_address: 3.3.3.3}
    secrets: {slurm_key: {config: landbridge:slurm-key}}
"""


def test_one_run_reports_six_mistakes_with_line_and_column() -> None:
    found = check(load_text(SIX, Path("stacks/Pulumi.six.yaml")))
    assert [(f.rule, f.line, f.column) for f in found] == [
        ("unknown-key", 5, 5),
        ("node-range", 9, 19),
        ("overlapping-cidrs", 12, 13),
        ("unknown-instance-type", 14, 32),
        ("out-of-range", 14, 56),
        ("missing-secret", 16, 35),
    ]
    assert all(f.file == "stacks/Pulumi.six.yaml" for f in found)
    fixes = {f.rule: f.fix or "" for f in found}
    assert fixes["unknown-key"] == 'did you mean "cost_center"?'
    assert "p5.4" in fixes["unknown-instance-type"]
    assert "pulumi config set --secret landbridge:slurm-key -s six" in fixes["missing-secret"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_environments_have_no_errors(path: Path) -> None:
    found = load_environment(path)
    assert found.environment is not None, found.findings
    errors = [finding for finding in check(found) if finding.severity == "error"]
    assert not errors
    assert found.environment.name == path.name.split(".")[1]


def test_the_good_environment_is_silent() -> None:
    assert findings() == ()


@pytest.mark.parametrize(
    ("path", "value", "rule", "says"),
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
        (("secrets", "slurm_key"), "hunter2", "wrong-type", "a mapping"),
        (("name",), "x", "unknown-key", "the file's name"),
    ],
)
def test_one_mistake_gives_one_finding(path: DataPath, value: Any, rule: str, says: str) -> None:
    found = [finding for finding in findings({path: value}) if finding.severity == "error"]
    assert [finding.rule for finding in found] == [rule], found
    assert says in f"{found[0].message} {found[0].fix}"
    assert found[0].line is not None and found[0].line > 3


def test_two_keys_missing_in_one_item_are_two_findings_and_drop_one_item() -> None:
    block, good = {"kind": "capacity_block"}, {"kind": "on_demand", "zones": ["use1-az9"]}
    found = findings({("aws", "pools", 0, "capacity"): [block, good]})
    assert [finding.rule for finding in found] == ["missing-key", "missing-key", "unknown-zone"]
    assert found[2].path == ("aws", "pools", 0, "capacity", 1, "zones", 0)


def test_a_misspelt_section_is_still_checked_inside() -> None:
    found = findings({("shceduler",): {"slurm": {"version": "1"}}, ("scheduler",): REMOVED})
    errors = [finding for finding in found if finding.severity == "error"]
    assert [finding.rule for finding in errors] == ["unknown-key", "unknown-value"]
    assert errors[1].path == ("shceduler", "slurm", "version")
    # What follows from the section's absence is a warning beside them.
    assert {finding.rule for finding in found if finding not in errors} == {"burst-without-accounts"}


def test_items_behind_a_dropped_one_keep_their_places() -> None:
    bad = [
        {"hosts": "a1", "platform": "dgx-h100", "address": "10.20.2.1"},
        7,
        {"hosts": "b1", "platform": "dgx-h1OO", "address": "10.20.2.2"},
    ]
    found = findings({("onprem", "nodes"): bad})
    assert [(finding.rule, finding.path) for finding in found] == [
        ("wrong-type", ("onprem", "nodes", 1)),
        ("unknown-platform", ("onprem", "nodes", 2, "platform")),
    ]


def test_nothing_is_said_about_what_is_not_in_the_file() -> None:
    # The stand-in for the broken range would overlap; the missing section would leave nothing to run on.
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
def test_what_stands_around_the_environment(text: str, rules: list[str]) -> None:
    found = load_text(text, Path("Pulumi.x.yaml"))
    assert found.environment is None
    assert sorted(finding.rule for finding in found.findings) == rules
    assert all(finding.line == 1 for finding in found.findings)


def test_values_have_their_types_and_cannot_be_changed() -> None:
    found = environment()
    assert found.link.gateway_address == IPv4Address("3.3.3.3")
    assert found.aws.pools[0].capacity[0].kind == "on_demand"
    assert found.host_addresses()["dgx02"] == "10.20.1.12"
    with pytest.raises(ValidationError):
        found.aws.pools[0].max_nodes = 9  # type: ignore[misc]


def test_places_of_values() -> None:
    found = loaded()
    line, column = found.locate(("aws", "pools", 0, "instance"))
    assert changed({}).splitlines()[line - 1][column - 1 :].startswith('"p5.48xlarge"')


def test_secure_keys_are_known_by_name_only() -> None:
    beside = {"landbridge:slurm-key": {"secure": "v1:abc"}}
    reference = {("secrets", "slurm_key"): {"config": "landbridge:slurm-key"}}
    assert findings(reference, beside=beside) == ()
    assert loaded(reference, beside=beside).secure_keys == {"landbridge:slurm-key"}


def test_pulumi_hands_over_the_same_environment() -> None:
    assert environment_from_config("test", "us-east-1", GOOD) == environment()


@pytest.mark.parametrize(
    "printed",
    ["2027-01-09 06:30:00 +0000 UTC", "2027-01-09 07:30:00.5 +0100 CET", "2027-01-09 01:30:00 -0500 -0500"],
)
def test_a_moment_without_quotes_comes_as_go_prints_it(printed: str) -> None:
    """Pulumi's engine reads the file itself; what YAML takes for a moment it hands over in Go's words."""
    window = {"starts": printed, "ends": "2027-01-09T18:00:00Z"}
    found = environment_from_config("test", "us-east-1", {**GOOD, "maintenance": [window]})
    assert found.maintenance[0].starts.astimezone(UTC).replace(microsecond=0) == datetime(2027, 1, 9, 6, 30, tzinfo=UTC)
    with pytest.raises(FindingsError, match="date and time"):
        environment_from_config("test", "us-east-1", {**GOOD, "maintenance": [{**window, "starts": "tomorrow, UTC"}]})


def test_a_wrong_configuration_raises_with_everything() -> None:
    wrong: Mapping[str, Any] = {**GOOD, "link": {"kind": "vpn"}, "users": 5}
    with pytest.raises(FindingsError) as caught:
        environment_from_config("test", "us-east-1", wrong)
    assert sorted(finding.rule for finding in caught.value.findings) == ["missing-key", "wrong-type"]


def test_files_are_found_from_inside_a_checkout(tmp_path: Path) -> None:
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


def test_a_variant_named_like_its_own_key_does_not_mislead() -> None:
    reservation = {"kind": "reservation", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4", "count": 0}
    path = ("aws", "pools", 0, "capacity", 0)
    assert [f.path for f in loaded({path: reservation}).findings] == [(*path, "count")]
    assert [f.path for f in loaded({path: {**reservation, "count": 1, "reservation": 5}}).findings] == [
        (*path, "reservation")
    ]
