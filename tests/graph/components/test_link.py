"""Link between the sites: routes, logs, the effect of one more site, secrets."""

import json
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_text
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.outputs import StackOutputs
from landbridge.policy import Level, violations
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.enumerations import word_problems
from sandbox.pulumi_provider.checks.value_ranges import range_problems
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.policy_view import resources
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import PROTECTED, graph_of
from tests.graph.support.link_settings import BACKUP, BASEL, BERN, LINE_VPN, line, reached, sites, vpn

VPN, GATEWAY = "aws:ec2/vpnConnection:VpnConnection", "aws:ec2/customerGateway:CustomerGateway"
HUB, ROUTE = "aws:ec2transitgateway/transitGateway:TransitGateway", "aws:ec2/route:Route"
PREFIXES = "aws:directconnect/gatewayAssociation:GatewayAssociation"
VPC = "variant-id"
OURS, THEIRS, FAR = (f"VpnConnection-variant{name}" for name in ("", "-basel", "-bern"))
INSIDE, LINE = "VpnConnection-variant-line", "GatewayAssociation-variant"
TWO = sites(basel=BASEL, bern=BERN)

LINKS = {
    "one site": (vpn(), {OURS: {VPC}, VPC: {OURS}}),
    "three sites": (
        vpn(sites=TWO),
        {OURS: {VPC}, THEIRS: {VPC}, FAR: {VPC}, VPC: {OURS, THEIRS, FAR}},
    ),
    "sites that meet": (
        vpn(sites=sites(basel=BASEL), sites_meet="true"),
        {OURS: {VPC, OURS, THEIRS}, THEIRS: {VPC, OURS, THEIRS}, VPC: {OURS, THEIRS}},
    ),
    "a line": (line(), {LINE: {VPC}, VPC: {LINE}}),
    "a line and its backup": (line(backup=BACKUP), {LINE: {VPC}, OURS: {VPC}, VPC: {LINE, OURS}}),
    # The line's attachment reaches itself alone: traffic of the VPC uses the tunnels.
    "tunnels in a line": (line(encryption="vpn", line_vpn=LINE_VPN), {LINE: {LINE}, INSIDE: {VPC}, VPC: {INSIDE}}),
    "tunnels in a line and beside it": (
        line(encryption="vpn", line_vpn=LINE_VPN, backup=BACKUP, sites=sites(basel=BASEL)),
        {LINE: {LINE}, INSIDE: {VPC}, OURS: {VPC}, THEIRS: {VPC}, VPC: {INSIDE, OURS, THEIRS}},
    ),
}


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def environment_of(change: tuple[str, str]) -> Environment:
    text = SANDBOX.read_text()
    assert change[0] in text
    loaded = load_text(text.replace(*change), Path("Pulumi.variant.yaml"))
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


@pytest.mark.parametrize("name", LINKS)
def test_each_attachment_has_routes_to_permitted_attachments_alone(tmp_path: Path, name: str) -> None:
    change, expected = LINKS[name]
    graph = graph_of(tmp_path, change)
    assert reached(graph) == expected
    (hub,) = graph.of_type(HUB)
    assert hub.inputs["defaultRouteTableAssociation"] == hub.inputs["defaultRouteTablePropagation"] == "disable"


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_the_same_in_a_preview_and_its_outputs_are_what_the_gateways_read(tmp_path: Path, name: str) -> None:
    change = LINKS[name][0]
    graph = graph_of(tmp_path, change)
    assert set(graph_of(tmp_path, change, preview=True).nodes) == set(graph.nodes)
    outputs = StackOutputs.model_validate(graph.outputs)
    environment = environment_of(change)
    assert outputs.link is not None and environment.link is not None
    groups = inventory(environment, outputs)
    tunnels = groups["site_gateway"]["vars"].get("site_gateway_tunnels", [])
    assert len(tunnels) == len(outputs.link.tunnels) == len(outputs.link_pre_shared_keys or ())
    assert set(outputs.link.sites) == set(outputs.link_site_keys or ()) == set(environment.link.sites)
    for site in environment.link.sites.values():
        assert len(groups["_meta"]["hostvars"][site.gateway]["site_gateway_tunnels"]) == 2
        assert site.gateway in groups["site_gateway"]["hosts"]
    assert (outputs.link.line is not None) == (outputs.link_bgp_auth_key is not None) == ("line" in name)


@pytest.mark.parametrize("name", LINKS)
def test_all_inputs_pass_every_validator_and_every_policy(tmp_path: Path, name: str) -> None:
    old, new = LINKS[name][0]
    # The sandbox's own gateway encrypts in user space, which has fewer algorithms than the policies require.
    changes = [("datapath: userspace", "datapath: kernel")] if "kind: vpn" in new else []
    graph = graph_of(tmp_path, (old, new.replace("userspace", "kernel")), *changes, PROTECTED, preview=True)
    problems = {
        f"{node.type} {node.name} {sdk_args.spell(path)}": reason
        for node in graph.nodes.values()
        if node.custom and not node.type.startswith("pulumi:")
        for path, reason in (
            *sdk_args.problems(node.type, node.inputs),
            *word_problems(node.type, node.inputs),
            *range_problems(node.type, node.inputs),
        )
    }
    assert problems == {}
    assert [str(violation) for violation in violations(resources(graph)) if violation.level is Level.MANDATORY] == []


def test_keys_are_secret_outputs(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, line(encryption="vpn", line_vpn=LINE_VPN, backup=BACKUP, sites=TWO))
    assert graph.secret_outputs == {"link_pre_shared_keys", "link_site_keys", "link_bgp_auth_key"}
    public = str(StackOutputs.model_validate(graph.outputs).public())
    assert "psk" not in public and "bgp-key" not in public


def test_with_certificates_no_tunnel_has_a_key_in_the_outputs(tmp_path: Path) -> None:
    arn = "arn:aws:acm:us-east-1:123456789012:certificate/1234abcd"
    authority = "arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/1234abcd"
    settings = {"arn": arn, "authority_arn": authority, "authorities": "-----BEGIN CERTIFICATE-----"}
    graph = graph_of(tmp_path, vpn(sites=TWO, certificate=json.dumps(settings)))
    assert {gateway.inputs["certificateArn"] for gateway in graph.of_type(GATEWAY)} == {arn}
    outputs = StackOutputs.model_validate(graph.outputs)
    assert outputs.link_pre_shared_keys == () and set((outputs.link_site_keys or {}).values()) == {()}
    plain = graph_of(tmp_path, vpn(sites=TWO))
    assert not any(gateway.inputs.get("certificateArn") for gateway in plain.of_type(GATEWAY))


@pytest.mark.parametrize("on", [True, False])
def test_every_tunnel_writes_both_logs(tmp_path: Path, on: bool) -> None:
    graph = graph_of(tmp_path, vpn(sites=TWO, logs=str(on).lower()))
    groups = graph.of_type("aws:cloudwatch/logGroup:LogGroup")
    assert [group.inputs["name"] for group in groups] == ["/aws/vendedlogs/landbridge/variant/vpn"] * on
    for node in graph.of_type(VPN):
        for number in (1, 2):
            options = node.inputs.get(f"tunnel{number}LogOptions")
            assert (options is not None) == on
            if options:
                written = options["cloudwatchLogOptions"]
                assert written["logEnabled"] is written["bgpLogEnabled"] is True
                assert written["logGroupArn"] == written["bgpLogGroupArn"]


def test_another_site_does_not_change_existing_resources(tmp_path: Path) -> None:
    def inputs_by_key(graph: Graph) -> dict[str, object]:
        return {key: node.inputs for key, node in graph.nodes.items() if node.custom}

    before = inputs_by_key(graph_of(tmp_path, vpn(sites=sites(bern=BERN))))
    after = inputs_by_key(graph_of(tmp_path, vpn(sites=TWO)))
    assert {key: after[key] for key in before} == before
    new = {key.rpartition("::")[2] for key in set(after) - set(before)}
    assert new == {"variant-basel", "variant-basel-use1-az4", "variant-basel-use1-az6"} | {
        f"variant-{table}-basel" for table in ("sites", "vpc")
    }


def test_the_order_of_sites_has_no_effect(tmp_path: Path) -> None:
    first, second = (
        {key: node.inputs for key, node in graph_of(tmp_path, vpn(sites=ordered_sites)).nodes.items()}
        for ordered_sites in (TWO, sites(bern=BERN, basel=BASEL))
    )
    assert first == second


def test_a_vpn_that_becomes_a_backup_is_the_same_vpn(tmp_path: Path) -> None:
    backup = "{gateway_address: 198.51.100.10, datapath: userspace, inside_cidrs: [169.254.10.0/30, 169.254.11.0/30]}"
    before, after = graph_of(tmp_path), graph_of(tmp_path, line(backup=backup))
    for kind in (VPN, GATEWAY):
        (earlier,), (later,) = before.of_type(kind), after.of_type(kind)
        assert earlier.key == later.key and earlier.inputs == later.inputs


def test_a_line_announces_the_ranges_of_the_vpc_or_only_of_its_tunnels_endpoints(tmp_path: Path) -> None:
    def announced_prefixes(*changes: tuple[str, str]) -> object:
        (node,) = graph_of(tmp_path, *changes).of_type(PREFIXES)
        return node.inputs["allowedPrefixes"]

    assert announced_prefixes(line(backup=BACKUP)) == ["10.60.0.0/16"]
    secondary = ("cidr: 10.60.0.0/16", "cidr: 10.60.0.0/16\n      secondary_cidrs: [100.64.0.0/16]")
    meet = line(sites=sites(basel=BASEL), sites_meet="true")
    assert announced_prefixes(secondary, meet) == ["10.60.0.0/16", "100.64.0.0/16", "10.30.0.0/16"]
    graph = graph_of(tmp_path, line(encryption="vpn", line_vpn=LINE_VPN))
    assert graph.of_type(PREFIXES)[0].inputs["allowedPrefixes"] == ["100.127.254.0/24"]
    assert graph.of_type(HUB)[0].inputs["transitGatewayCidrBlocks"] == ["100.127.254.0/24"]
    (inside,) = graph.of_type(VPN)
    assert inside.inputs["outsideIpAddressType"] == "PrivateIpv4"
    assert inside.inputs["transportTransitGatewayAttachmentId"] == LINE


def test_every_site_s_range_leads_to_the_transit_gateway_in_every_zone(tmp_path: Path) -> None:
    routes = graph_of(tmp_path, vpn(sites=TWO)).of_type(ROUTE)
    routed = {(node.inputs["routeTableId"], node.inputs["destinationCidrBlock"]) for node in routes}
    assert len(routed) == len(routes) == 6
    assert {cidr for _, cidr in routed} == {"10.20.0.0/16", "10.30.0.0/16", "10.40.0.0/16"}


def test_an_as_number_above_31_bits_has_a_separate_parameter(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, vpn(sites=sites(bern=BERN)))
    gateways = {node.name: node.inputs for node in graph.of_type(GATEWAY)}
    assert gateways["variant"]["bgpAsn"] == "65010" and "bgpAsnExtended" not in gateways["variant"]
    assert gateways["variant-bern"]["bgpAsnExtended"] == "4200000001" and "bgpAsn" not in gateways["variant-bern"]


def test_both_ends_prefer_the_line_to_its_backup(tmp_path: Path) -> None:
    change = line(encryption="vpn", line_vpn=LINE_VPN, backup=BACKUP, router="10.20.0.2")
    outputs = StackOutputs.model_validate(graph_of(tmp_path, change).outputs)
    variables = inventory(environment_of(change), outputs)["site_gateway"]["vars"]
    assert variables["site_gateway_inside_neighbors"] == ["10.20.0.2"]
    assert variables["site_gateway_local_address"] == "10.20.0.1"
    inside, beside = variables["site_gateway_tunnels"][:2], variables["site_gateway_tunnels"][2:]
    assert all("preference" not in tunnel and "local_address" not in tunnel for tunnel in inside)
    assert {(tunnel["preference"], tunnel["prepend"], tunnel["local_address"]) for tunnel in beside} == {
        (50, 2, "198.51.100.10")
    }
    assert len({tunnel["name"] for tunnel in (*inside, *beside)}) == 4


def test_with_a_line_alone_no_host_has_the_gateway_role() -> None:
    groups = inventory(environment_of(line()))
    assert groups["site_gateway"] == {"hosts": [], "vars": {}}


#: Changes of the sandbox's file: a second gateway.
PAIR = (
    ("gateway: gw01", "gateway: [gw01, gw02]"),
    ("      addresses:\n", "      addresses:\n        gw02: 10.20.0.2\n"),
    (
        "gateway_address: 198.51.100.10\n",
        "gateway_address: [198.51.100.10, 198.51.100.11]\n      shared_address: 10.20.0.9\n",
    ),
)


def test_a_second_gateway_has_its_own_connection_keys_and_outputs(tmp_path: Path) -> None:
    first, second_graph = graph_of(tmp_path), graph_of(tmp_path, *PAIR)
    before, after = (
        {key: node.inputs for key, node in graph.nodes.items() if node.custom} for graph in (first, second_graph)
    )
    assert {key: after[key] for key in before} == before
    assert {key.rpartition("::")[2] for key in set(after) - set(before)} == {
        "variant-onprem-2",
        "variant-sites-onprem-2",
        "variant-vpc-onprem-2",
    }
    second = "VpnConnection-variant-onprem-2"
    assert reached(second_graph) == {OURS: {VPC}, second: {VPC}, VPC: {OURS, second}}
    addresses = [node.inputs["ipAddress"] for node in second_graph.of_type(GATEWAY)]
    assert sorted(addresses) == ["198.51.100.10", "198.51.100.11"]
    assert second_graph.of_type(HUB)[0].inputs["vpnEcmpSupport"] == "enable"
    outputs = StackOutputs.model_validate(second_graph.outputs)
    assert outputs.link is not None and outputs.link_site_keys is not None and outputs.link_pre_shared_keys is not None
    assert len(outputs.link.tunnels) == len(outputs.link_pre_shared_keys) == 2
    assert len(outputs.link.sites["onprem-2"].tunnels) == len(outputs.link_site_keys["onprem-2"]) == 2
