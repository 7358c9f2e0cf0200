"""Forked environments: only the requested values differ, comments are kept, and the result is valid."""

import itertools
import json
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landbridge import yaml_text
from landbridge.environment.file.fork import Wanted, copied_keys, fork
from landbridge.environment.file.load import load_text
from landbridge.findings import FindingsError, Severity
from landbridge.hostlist import expand
from landbridge.rules import check
from tests.thorough import examples
from tests.unit.core.samples import ROOT

TO_FORK = ("hybrid", "regulated", "frontier", "example")
TEXTS = {name: (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text() for name in TO_FORK}
ALL = Wanted(
    owner="ml@acme.example",
    cost_center="0042",
    onprem_cidr=IPv4Network("10.128.0.0/14"),
    aws_cidr=IPv4Network("10.200.0.0/16"),
    gateway_address=IPv4Address("52.1.2.3"),
    onprem_asn=65123,
)


def body(text: str) -> Any:
    return yaml_text.load(text)["config"]["landbridge:environment"]


def errors(text: str) -> list[str]:
    findings = check(load_text(text, Path("stacks/Pulumi.acme.yaml")))
    return [str(finding) for finding in findings if finding.severity is Severity.ERROR]


def comments(text: str) -> list[str]:
    return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line and "Fork" not in line]


@pytest.mark.parametrize("name", TO_FORK)
def test_a_fork_has_every_requested_value_and_every_comment(name: str) -> None:
    text = fork(TEXTS[name], ALL, name)
    environment = load_text(text, Path("stacks/Pulumi.acme.yaml")).environment
    assert environment is not None and errors(text) == []
    assert (environment.owner, environment.cost_center) == (ALL.owner, "0042")
    assert (environment.onprem.cidr, environment.aws.cidr) == (ALL.onprem_cidr, ALL.aws_cidr)
    assert (environment.link.gateway_address, environment.link.onprem_asn) == (ALL.gateway_address, 65123)
    assert all(address in environment.onprem.cidr for address in environment.onprem.addresses.values())
    assert all(group.address in environment.onprem.cidr for group in environment.onprem.nodes)
    assert comments(text) == comments(TEXTS[name])
    assert len(text.splitlines()) == len(TEXTS[name].splitlines())


@pytest.mark.parametrize("name", TO_FORK)
def test_a_fork_without_requests_differs_only_in_its_origin(name: str) -> None:
    assert fork(TEXTS[name], Wanted(), name) == TEXTS[name].replace(
        f"# Fork it with: landbridge new NAME --from {name}", f"# Forked from {name}."
    )


def test_values_that_are_not_requested_are_unchanged() -> None:
    before, after = body(TEXTS["hybrid"]), body(fork(TEXTS["hybrid"], Wanted(owner="me@acme.example"), "hybrid"))
    assert {key for key in before if before[key] != after[key]} == {"owner"}


def test_two_ranges_may_be_swapped() -> None:
    swapped = Wanted(onprem_cidr=IPv4Network("10.60.0.0/16"), aws_cidr=IPv4Network("10.20.0.0/16"))
    after = body(fork(TEXTS["hybrid"], swapped, "hybrid"))
    assert after["onprem"]["addresses"]["gw01"] == "10.60.0.1" and after["aws"]["cidr"] == "10.20.0.0/16"


def test_a_fork_in_another_region_has_zones_that_offer_the_types() -> None:
    text = fork(TEXTS["hybrid"], Wanted(region="us-east-2"), "hybrid")
    after = body(text)
    zones = {
        capacity.get("zone") or capacity["zones"][0] for pool in after["aws"]["pools"] for capacity in pool["capacity"]
    }
    assert len(zones) == 1, "pools that shared a zone still do"
    assert after["storage"]["cloud_scratch"]["zone"] in zones and zones.pop().startswith("use2-")
    assert errors(text) == []


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        ("hybrid", Wanted(region="mars-north-1"), "no region mars-north-1"),
        ("frontier", Wanted(region="ca-west-1"), "no zone of ca-west-1"),
        ("frontier", Wanted(onprem_cidr=IPv4Network("10.9.0.0/28")), "has no place in 10.9.0.0/28"),
    ],
)
def test_a_request_that_does_not_fit_is_a_located_finding(name: str, wanted: Wanted, message: str) -> None:
    with pytest.raises(FindingsError, match=message) as caught:
        fork(TEXTS[name], wanted, name)
    assert caught.value.findings[0].line is not None and caught.value.findings[0].fix


@pytest.mark.parametrize("prefix", range(16, 29))
@pytest.mark.parametrize("name", TO_FORK)
def test_a_smaller_site_has_every_address_once_or_is_told_the_size_that_it_needs(name: str, prefix: int) -> None:
    site = IPv4Network(f"192.168.0.0/{prefix}")
    try:
        text = fork(TEXTS[name], Wanted(onprem_cidr=site), name)
    except FindingsError as refused:
        needed = int(str(refused.findings[0].fix).rpartition("/")[2])
        assert needed < prefix
        text = fork(TEXTS[name], Wanted(onprem_cidr=IPv4Network(f"192.168.0.0/{needed}")), name)
        assert prefix == needed + 1 or errors(text) == []
        return
    assert errors(text) == []
    environment = load_text(text, Path("stacks/Pulumi.acme.yaml")).environment
    assert environment is not None and environment.onprem is not None
    addresses = list(environment.onprem.addresses.values())
    for group in environment.onprem.nodes:
        addresses += [group.address + number for number in range(len(expand(group.hosts)))]
    assert len(addresses) == len(set(addresses))
    assert all(address in site and address not in (site[0], site[-1]) for address in addresses)


def test_addresses_with_a_place_keep_their_last_numbers() -> None:
    after = body(fork(TEXTS["hybrid"], Wanted(onprem_cidr=IPv4Network("192.168.10.0/24")), "hybrid"))["onprem"]
    assert after["addresses"]["gw01"] == "192.168.10.1" and after["addresses"]["mlops01"] == "192.168.10.15"
    assert [group["address"] for group in after["nodes"]] == ["192.168.10.2", "192.168.10.6"]


def test_a_text_with_the_whole_range_or_a_part_of_it_is_moved_with_its_size() -> None:
    text = TEXTS["hybrid"].replace("ml-platform@example.org", "10.20.0.0/16 and 10.20.0.0/26 by 10.20.1.16")
    site = IPv4Network("192.168.10.0/25")
    after = body(fork(text, Wanted(onprem_cidr=site), "hybrid"))
    assert after["owner"] == "192.168.10.0/25 and 192.168.10.0/26 by 192.168.10.7", (
        "the second node of the second group"
    )
    with pytest.raises(FindingsError, match="has no place") as caught:
        fork(text, Wanted(onprem_cidr=IPv4Network("192.168.10.0/27")), "hybrid")
    assert caught.value.findings[0].fix == "give a range of at least /26"


@pytest.mark.parametrize("prefix", range(16, 29))
@pytest.mark.parametrize("name", TO_FORK)
def test_a_vpc_of_any_size_is_valid_or_refused_with_the_size_that_it_needs(name: str, prefix: int) -> None:
    text = fork(TEXTS[name], Wanted(aws_cidr=IPv4Network(f"10.88.0.0/{prefix}")), name)
    findings = check(load_text(text, Path("stacks/Pulumi.acme.yaml")))
    refused = [f"{finding.message} {finding.fix}" for finding in findings if finding.severity is Severity.ERROR]
    assert prefix > 16 or refused == []
    assert all("/" in text for text in refused), refused


def test_secrets_and_keys_of_the_stack_are_not_copied() -> None:
    initialised = TEXTS["hybrid"] + "encryptionsalt: v1:abc=:v1:def:ghi\n"
    assert "encryptionsalt" not in fork(initialised, Wanted(), "hybrid")
    secret = TEXTS["hybrid"].replace("config:\n", "config:\n  landbridge:key: {secure: v1:abc}\n", 1)
    with pytest.raises(FindingsError, match="landbridge:key is encrypted"):
        fork(secret, Wanted(), "hybrid")


def test_a_missing_key_is_added_on_a_separate_line() -> None:
    text = TEXTS["hybrid"].replace("      onprem_asn: 65010\n", "").replace('    cost_center: "4711"\n', "")
    after = body(fork(text, Wanted(cost_center="9", onprem_asn=65200), "hybrid"))
    assert after["cost_center"] == "9" and after["link"]["onprem_asn"] == 65200
    with pytest.raises(FindingsError, match="no line to put it after"):
        fork(json.dumps(yaml_text.load(text)), Wanted(onprem_asn=65200), "hybrid")


@settings(deadline=None, max_examples=examples(20, 60), suppress_health_check=[HealthCheck.too_slow])
@given(
    owner=st.text(
        st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f\x85"), min_size=1, max_size=30
    ),
    cost_center=st.text("0123456789abc:#,{}[]\"' ", min_size=1, max_size=8),
)
def test_any_text_is_written_unchanged(owner: str, cost_center: str) -> None:
    for name, quoted in itertools.product(("hybrid",), (True, False)):
        text = TEXTS[name] if quoted else TEXTS[name].replace('"4711"', "tag").replace("ml-platform@example.org", "'x'")
        after = body(fork(text, Wanted(owner=owner, cost_center=cost_center), name))
        assert (after["owner"], after["cost_center"]) == (owner, cost_center)


def test_the_values_of_another_organisation_are_named() -> None:
    assert copied_keys(TEXTS["hybrid"], "hybrid") == (
        "users",
        "onprem.nodes",
        "onprem.addresses",
        "aws.pools",
        "scheduler.slurm.packages_mirror",
        "scheduler.accounts",
        "budget",
    )
    without_mirror = TEXTS["hybrid"].replace("        packages_mirror: http://mirror.example.org/slurm\n", "")
    assert "scheduler.slurm.packages_mirror" not in copied_keys(without_mirror, "hybrid")
