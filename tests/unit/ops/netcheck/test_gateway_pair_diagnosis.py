"""Judgement of the shared address of two gateways, on facts made from those of one."""

import json
from dataclasses import replace

import pytest

from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.gateway_pair import shared_address_results
from tests.unit.ops.netcheck import records
from tests.unit.ops.netcheck.records import GATEWAY

EXPECTED = records.expectations()
SHARED = "10.20.0.9"


def gateway(name: str, has_address: bool, error: str = "") -> HostFacts:
    """Return the facts of a gateway that has the shared address or not."""
    facts = records.healthy(EXPECTED)[GATEWAY]
    assert facts.host.gateway is not None
    expected = replace(facts.host.gateway, host=name, shared_address=SHARED)
    facts = replace(facts, host=replace(facts.host, name=name, gateway=expected))
    links = json.loads(records.text(facts, "links"))
    if has_address:
        links[-1]["addr_info"].append({"family": "inet", "local": SHARED, "prefixlen": 16})
    return replace(records.output(facts, links=json.dumps(links)), **({"error": error, "data": {}} if error else {}))


@pytest.mark.parametrize(
    ("first", "second", "status", "text"),
    [
        (gateway("gw01", True), gateway("gw02", False), "passed", "gw01 has it"),
        (gateway("gw01", False), gateway("gw02", True), "passed", "gw02 has it"),
        (gateway("gw01", True), gateway("gw02", True), "failed", "gw01 and gw02 both"),
        (gateway("gw01", False), gateway("gw02", False), "failed", "no gateway"),
        (gateway("gw01", False, "no route"), gateway("gw02", True), "passed", "gw02 has it"),
        (gateway("gw01", False, "no route"), gateway("gw02", False), "not judged", "no facts of gw01"),
    ],
)
def test_one_of_two_gateways_has_the_shared_address(
    first: HostFacts, second: HostFacts, status: str, text: str
) -> None:
    (result,) = shared_address_results([first, second])
    assert result.status == status and text in result.message
    assert result.cause == ("shared-address" if status == "failed" else "")


def test_one_gateway_has_no_shared_address() -> None:
    assert list(shared_address_results([records.healthy(EXPECTED)[GATEWAY]])) == []
