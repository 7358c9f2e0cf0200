"""Expectations of the link, and the sheet for another gateway: the same values as the role and AWS's end have."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from landbridge.environment import Environment
from landbridge.plan.aws.model_servers import model_servers_args
from landbridge.plan.network.link import link_args
from landbridge.plan.network.service_flows import SITE_SERVER, port_range, service_flows
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.link.expectations import gateway_hosts, link_expectations
from landbridge.plan.site.link.flows import CLOUD_NODE
from landbridge.plan.site.link.gateway import gateway_variables
from landbridge.plan.site.link.gateway_sheet import gateway_sheet, sheet_lines
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.unit.core.samples import environment
from tests.unit.observability.serving_sample import served_in_aws
from tests.unit.plan.network.test_link import linked
from tests.unit.rules.network.rows_link import direct_connect

SITE = {"cidr": "10.30.0.0/16", "gateway": "gw02", "address": "10.30.0.1", "gateway_address": "4.4.4.4", "asn": 65020}
MONITORING = ("onprem", "addresses", "mon01")
SITE_TUNNEL = {
    "outside_address": "198.51.100.40",
    "inside_cidr": "169.254.20.0/30",
    "aws_inside_address": "169.254.20.1",
    "customer_inside_address": "169.254.20.2",
}
SECRETS = {"link_pre_shared_keys": ["first-key", "second-key"], "link_site_keys": {"basel": ["third-key"]}}


def outputs(**link: Any) -> StackOutputs:
    values = {**OUTPUTS, **SECRETS, "link": {**OUTPUTS["link"], **link}}  # type: ignore[dict-item]
    return StackOutputs.model_validate_json(json.dumps(values))


def test_tunnels_are_those_that_the_role_configures() -> None:
    chosen = environment()
    (gateway,) = link_expectations(chosen, outputs()).gateways
    variables = gateway_variables(chosen, outputs())
    assert (gateway.host, gateway.asn) == ("gw01", variables["site_gateway_local_asn"])
    assert [tunnel.name for tunnel in gateway.tunnels] == [
        tunnel["name"] for tunnel in variables["site_gateway_tunnels"]
    ]
    # The role numbers the interfaces from 1 and clamps the MSS to the MTU less 40 bytes of headers.
    assert [(tunnel.if_id, tunnel.interface) for tunnel in gateway.tunnels] == [(1, "aws1"), (2, "aws2")]
    assert {tunnel.mss for tunnel in gateway.tunnels} == {variables["site_gateway_mtu"] - 40}
    assert gateway.accepts == tuple(variables["site_gateway_accept"])


def test_a_gateway_in_user_space_has_one_of_the_tunnels() -> None:
    (gateway,) = link_expectations(environment({("link", "datapath"): "userspace"}), outputs()).gateways
    assert [(tunnel.name, tunnel.interface, tunnel.if_id) for tunnel in gateway.tunnels] == [("aws1", "ipsec0", None)]
    assert gateway.offered == 2


def test_each_linked_site_has_its_gateway() -> None:
    chosen = environment({("link", "sites"): {"basel": SITE}})
    sites = {"basel": {"customer_gateway_address": "4.4.4.4", "tunnels": [SITE_TUNNEL]}}
    assert gateway_hosts(chosen) == (("gw01", "onprem"), ("gw02", "basel"))
    expected = link_expectations(chosen, outputs(sites=sites))
    assert [gateway.address for gateway in expected.gateways] == ["10.20.0.1", "10.30.0.1"]
    (tunnel,) = expected.gateways[1].tunnels
    assert (tunnel.local_address, tunnel.remote_address) == ("4.4.4.4", "198.51.100.40")
    assert expected.gateways[1].sends == ("10.30.0.0/16",)


def test_a_backup_of_direct_connect_has_its_own_settings() -> None:
    changes = direct_connect(backup={"gateway_address": "3.3.3.3"}, line_vpn={"gateway_address": "10.20.0.1"})
    changes[("link", "encryption")] = "vpn"
    chosen = environment(changes)
    tunnels = [
        {**SITE_TUNNEL, "over": over, "inside_cidr": f"169.254.2{number}.0/30"}
        for number, over in enumerate(("line", "internet"))
    ]
    (gateway,) = link_expectations(chosen, outputs(tunnels=tunnels)).gateways
    assert [(tunnel.local_address, tunnel.prepend) for tunnel in gateway.tunnels] == [("10.20.0.1", 0), ("3.3.3.3", 2)]


def test_every_tcp_port_that_nodes_in_aws_may_reach_is_tried() -> None:
    chosen = environment()
    tried = {flow.port for flow in link_expectations(chosen, None).flows if flow.origin == "aws"}
    permitted = {
        port_range(flow.ports)[0]
        for flow in service_flows(chosen)
        if flow.protocol == "tcp" and flow.group != SITE_SERVER
    }
    assert tried == permitted
    towards = [flow for flow in link_expectations(chosen, None).flows if flow.origin == "onprem"]
    assert [(flow.address, flow.port) for flow in towards] == [(CLOUD_NODE, 6818), (CLOUD_NODE, 60001)]


def test_hosts_of_model_servers_in_aws_are_tried_from_the_hosts_that_may_reach_them() -> None:
    chosen = environment({**served_in_aws(), ("onprem", "services", "monitoring"): "mon01", MONITORING: "10.20.0.40"})
    tried = {
        (flow.host, flow.to, flow.address, flow.port, flow.listens)
        for flow in link_expectations(chosen, None).flows
        if flow.may_be_stopped
    }
    (machine,) = model_servers_args(chosen).machines  # type: ignore[union-attr]
    host, address = machine.host, machine.address
    assert tried == {
        ("gwm01", host, address, 8500, False),
        ("gwm01", host, address, 8501, False),
        ("mon01", host, address, 9100, True),
    }


def test_names_are_asked_in_both_directions() -> None:
    dns = {"zone": "aws.cluster.internal", "zone_id": "Z1", "inbound_addresses": ["10.60.32.9"]}
    values = StackOutputs.model_validate_json(json.dumps({**OUTPUTS, "dns": dns}))
    names = link_expectations(environment({("dns",): {}}), values).names
    assert [(name.origin, name.server, name.direct) for name in names] == [
        ("onprem", "10.20.0.1", False),
        ("onprem", "10.20.0.11", False),
        ("onprem", "10.60.32.9", True),
        ("aws", "169.254.169.253", False),
        ("aws", "10.20.0.1", True),
        ("aws", "10.20.0.11", True),
    ]
    assert {name.address for name in names if name.origin == "aws"} == {"10.20.0.11"}
    assert link_expectations(environment(), values).names == ()


@given(linked())
@settings(max_examples=30)
def test_the_sheet_of_any_link_has_every_connection_and_the_values_of_awss_end(chosen: Environment) -> None:
    sheet, plan = gateway_sheet(chosen, None), link_args(chosen)
    assert len(sheet["connections"]) == len(plan.vpns)
    for connection, vpn in zip(sheet["connections"], plan.vpns.values(), strict=True):
        assert connection["outside_address_of_the_site"] == vpn.gateway_address
        assert connection["as_number_of_the_site"] == vpn.asn and connection["as_number_of_aws"] == plan.aws_asn
        assert vpn.cipher.encryption in connection["ike"] and f"group {vpn.cipher.dh_group} " in connection["ike"]
        assert connection["ike_lifetime_seconds"] == vpn.phase1_seconds
        assert connection["announce_to_aws"] == [plan.networks[connection["site"]]]
    gateways = link_expectations(chosen, None).gateways
    assert [(gateway.host, gateway.site) for gateway in gateways] == list(gateway_hosts(chosen))
    assert ("direct_connect" in sheet) == (plan.line is not None)
    assert list(sheet_lines(sheet)) and json.loads(json.dumps(sheet)) == sheet


def test_the_sheet_has_the_addresses_of_both_tunnels_and_no_secret() -> None:
    chosen = environment({("link", "sites"): {"basel": SITE}})
    sites = {"basel": {"customer_gateway_address": "4.4.4.4", "tunnels": [SITE_TUNNEL]}}
    sheet = gateway_sheet(chosen, outputs(sites=sites))
    text = "\n".join(sheet_lines(sheet))
    for word in ("198.51.100.20", "198.51.100.21", "169.254.10.2/30", "169.254.11.1", "198.51.100.40", "65020"):
        assert word in text, word
    assert "-key" not in text.replace("pre-shared key", "") and "-key" not in json.dumps(sheet)
    assert "AES256-GCM-16, PRF SHA2-384, Diffie-Hellman group 20 (384-bit random ECP)" in text


def test_the_sheet_names_what_is_known_only_after_up() -> None:
    text = "\n".join(sheet_lines(gateway_sheet(environment(), None)))
    assert text.count("known after `landbridge up`") == 2 and "169.254.10.0/30" in text


def test_an_environment_without_a_link_has_no_sheet() -> None:
    with pytest.raises(ValueError, match="no link"):
        gateway_sheet(environment({("link",): None}), None)
