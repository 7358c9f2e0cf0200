"""Plan of two gateways of the site: connections, variables of the role, expectations, sheet and firewall."""

import json
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.ops.residency.proof import prove
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.alarms import monitored_ids
from landbridge.plan.network.addresses import link_ranges
from landbridge.plan.network.link import link_args
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.link.expectations import link_expectations
from landbridge.plan.site.link.gateway import gateway_variables
from landbridge.plan.site.link.gateway_sheet import gateway_sheet
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.unit.core.samples import environment
from tests.unit.rules.network.rows_link import direct_connect

SECOND = "10.20.0.2"
PAIR: dict[Any, Any] = {
    ("onprem", "services"): {"gateway": ["gw01", "gw02"]},
    ("onprem", "addresses", "gw02"): SECOND,
    ("link", "gateway_address"): ["3.3.3.3", "3.3.3.4"],
    ("link", "shared_address"): "10.20.0.9",
}


def tunnel(number: int, over: str = "internet") -> dict[str, str]:
    inside = f"169.254.{number}"
    return {
        "outside_address": f"198.51.100.{number}",
        "inside_cidr": f"{inside}.0/30",
        "aws_inside_address": f"{inside}.1",
        "customer_inside_address": f"{inside}.2",
        "over": over,
    }


def outputs(first: list[dict[str, str]], second: list[dict[str, str]]) -> StackOutputs:
    sites = {"onprem-2": {"customer_gateway_address": "3.3.3.4", "tunnels": second}}
    link = {"aws_asn": 64512, "tunnels": first, "sites": sites}
    return StackOutputs.model_validate_json(json.dumps({**OUTPUTS, "cluster": "test", "link": link}))


BOTH = outputs([tunnel(20), tunnel(21)], [tunnel(30), tunnel(31)])


def orders(variables: dict[str, Any]) -> list[tuple[int, int]]:
    return [(item.get("preference", 100), item.get("prepend", 0)) for item in variables["site_gateway_tunnels"]]


def host_variables(chosen: Environment, host: str, values: StackOutputs) -> dict[str, Any]:
    """Return the variables with which Ansible configures a gateway."""
    data = inventory(chosen, values)
    assert data["site_gateway"]["hosts"] == ["gw01", "gw02"]
    return {**data["site_gateway"]["vars"], **data["_meta"]["hostvars"][host]}


def test_each_gateway_has_its_own_connection() -> None:
    plan = link_args(environment(PAIR))
    assert {key: vpn.gateway_address for key, vpn in plan.vpns.items()} == {"onprem": "3.3.3.3", "onprem-2": "3.3.3.4"}
    # AWS chooses the ranges of the second one unless the file has four.
    assert [vpn.inside_cidrs for vpn in plan.vpns.values()] == [("169.254.10.0/30", "169.254.11.0/30"), None]
    four = [f"169.254.{number}.0/30" for number in (10, 11, 12, 13)]
    chosen = environment({**PAIR, ("link", "inside_cidrs"): four})
    assert link_args(chosen).vpns["onprem-2"].inside_cidrs == ("169.254.12.0/30", "169.254.13.0/30")
    inside = [part for part in link_ranges(chosen) if part.kind == "tunnel"]
    assert [str(part.cidr) for part in inside] == four
    assert [part.path[-1] for part in inside] == [0, 1, 2, 3]
    assert {"vpn-onprem", "vpn-onprem-2", "vpn-onprem-2-2"} <= set(monitored_ids(chosen))


def test_the_gateways_have_the_same_filters_and_their_own_addresses() -> None:
    first, second = (host_variables(environment(PAIR), host, BOTH) for host in ("gw01", "gw02"))
    for name in ("advertise", "accept", "ike_proposals", "esp_proposals", "mtu", "local_asn", "shared_address"):
        assert first[f"site_gateway_{name}"] == second[f"site_gateway_{name}"], name
    assert first["site_gateway_shared_address"] == "10.20.0.9/16"
    assert [item["site_gateway_local_address"] for item in (first, second)] == ["3.3.3.3", "3.3.3.4"]
    assert [item["site_gateway_source_address"] for item in (first, second)] == ["10.20.0.1", SECOND]
    assert [item["site_gateway_inside_neighbors"] for item in (first, second)] == [[SECOND], ["10.20.0.1"]]
    assert [item["site_gateway_shared_peer"] for item in (first, second)] == [SECOND, "10.20.0.1"]
    assert first["site_gateway_shared_priority"] > second["site_gateway_shared_priority"]
    assert [item["remote_address"] for item in second["site_gateway_tunnels"]] == ["198.51.100.30", "198.51.100.31"]
    assert "landbridge_link_keys" not in first and second["landbridge_link_keys"] == "link_pre_shared_keys-onprem-2"


@pytest.mark.parametrize(("use", "order"), [("standby", (90, 1)), ("active", (100, 0))])
def test_a_standby_gateway_is_less_preferred_in_both_directions(use: str, order: tuple[int, int]) -> None:
    chosen = environment({**PAIR, ("link", "second_gateway"): use})
    assert orders(gateway_variables(chosen, BOTH)) == [(100, 0), (100, 0)]
    assert orders(gateway_variables(chosen, BOTH, 1)) == [order, order]


def test_a_standby_gateway_is_preferred_to_the_first_gateways_backup() -> None:
    pair = {
        "line_vpn": {"gateway_address": ["10.20.0.1", SECOND]},
        "backup": {"gateway_address": ["3.3.3.3", "3.3.3.4"]},
        "shared_address": "10.20.0.9",
        "encryption": "vpn",
    }
    chosen = environment({**PAIR, ("link",): direct_connect(**pair)["link",]})
    assert list(link_args(chosen).vpns) == ["line", "onprem", "line-2", "onprem-2"]
    values = outputs([tunnel(20, "line"), tunnel(21)], [tunnel(30, "line"), tunnel(31)])
    assert orders(gateway_variables(chosen, values)) == [(100, 0), (50, 2)]
    assert orders(gateway_variables(chosen, values, 1)) == [(90, 1), (40, 3)]
    locals_ = [item.get("local_address") for item in gateway_variables(chosen, values, 1)["site_gateway_tunnels"]]
    assert locals_ == [None, "3.3.3.4"]


def test_a_router_of_the_site_is_a_neighbour_of_both_gateways() -> None:
    changes = {**PAIR, ("link", "router"): "10.20.0.254"}
    del changes["link", "shared_address"]
    variables = [gateway_variables(environment(changes), BOTH, number) for number in (0, 1)]
    assert [item["site_gateway_inside_neighbors"] for item in variables] == [
        ["10.20.0.254", SECOND],
        ["10.20.0.254", "10.20.0.1"],
    ]
    assert not [name for item in variables for name in item if "shared" in name]


def test_expectations_and_the_sheet_have_both_gateways() -> None:
    chosen = environment(PAIR)
    gateways = link_expectations(chosen, BOTH).gateways
    assert [(gateway.host, gateway.site, gateway.address) for gateway in gateways] == [
        ("gw01", "onprem", "10.20.0.1"),
        ("gw02", "onprem", SECOND),
    ]
    assert [tunnel.local_address for gateway in gateways for tunnel in gateway.tunnels] == [
        *["3.3.3.3"] * 2,
        *["3.3.3.4"] * 2,
    ]
    first, second = gateway_sheet(chosen, BOTH)["connections"]
    assert second["outside_address_of_the_site"] == "3.3.3.4" and second["site"] == "onprem"
    assert "link_pre_shared_keys-onprem-2 " in second["authentication"]
    assert second["tunnels"][0]["outside_address_of_aws"] == "198.51.100.30"
    assert {
        **first,
        **{key: second[key] for key in ("outside_address_of_the_site", "authentication", "tunnels")},
    } == second


def test_the_firewall_permits_the_gateways_to_each_other() -> None:
    rules = {rule.why: rule for rule in firewall_rules(environment(PAIR))["site_gateway"]}
    assert rules["VRRP between the two gateways"].sources == ("10.20.0.1/32", f"{SECOND}/32")
    assert f"{SECOND}/32" in rules["BGP inside the tunnels, and with the site's router"].sources


def test_the_hold_time_of_the_file_has_three_keepalives() -> None:
    variables = gateway_variables(environment({**PAIR, ("link", "bgp_hold_seconds"): 3}), BOTH)
    assert (variables["site_gateway_bgp_keepalive"], variables["site_gateway_bgp_hold"]) == (1, 3)
    assert "site_gateway_bgp_hold" not in gateway_variables(environment(PAIR), BOTH)


def test_a_second_gateway_opens_no_path_for_data() -> None:
    proof = prove(environment(PAIR))
    assert proof.paths == () and proof.crossings > 0
