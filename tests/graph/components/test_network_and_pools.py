"""Network and pools with values that the sandbox's environment leaves at their defaults."""

import re
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import graph_of, template
from tests.graph.support.inventory import client, left

#: Without it, AWS is the public one.
PUBLIC = next(
    (line, "") for line in SANDBOX.read_text().splitlines(keepends=True) if line.lstrip().startswith("endpoints:")
)
CAPACITY = "          suspend_after: 20\n"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def pool(text: str) -> tuple[str, str]:
    """The sandbox's pool with more keys."""
    return CAPACITY, CAPACITY + "".join(f"          {line}\n" for line in text.splitlines())


def wrong(graph: Graph) -> dict[str, list[tuple[str, str]]]:
    """Return the inputs that a real provider would refuse, by resource."""
    found = {
        node.name: [(sdk_args.spell(path), reason) for path, reason in sdk_args.problems(node.type, node.inputs)]
        for node in graph.nodes.values()
        if node.custom and not node.type.startswith("pulumi:")
    }
    return {name: problems for name, problems in found.items() if problems}


def test_a_closed_network_has_an_endpoint_for_every_service_it_uses(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, PUBLIC)
    assert wrong(graph) == {}
    made = {node.inputs["serviceName"]: node.inputs for node in graph.of_type(ENDPOINT)}
    interface = {name: inputs for name, inputs in made.items() if inputs["vpcEndpointType"] == "Interface"}
    assert made["com.amazonaws.us-east-1.s3"]["vpcEndpointType"] == "Gateway"
    assert {"ec2", "sts", "ssm", "secretsmanager", "kms", "logs"} <= {name.rsplit(".", 1)[1] for name in interface}
    zones = len(graph.of_type("aws:ec2/subnet:Subnet"))
    for inputs in interface.values():
        assert inputs["privateDnsEnabled"] is True and len(inputs["subnetIds"]) == zones
        assert len(inputs["securityGroupIds"]) == 1
    opened = [n.inputs for n in graph.of_type(INGRESS) if "endpoints" in n.name]
    assert {(rule["fromPort"], rule["toPort"]) for rule in opened} == {(443, 443)}
    assert {rule["cidrIpv4"] for rule in opened} == {"10.60.0.0/16", "10.20.0.0/16"}


@pytest.mark.parametrize("more", [[], [("nat: none", "nat: single"), PUBLIC]])
def test_an_emulated_aws_and_a_network_with_nat_have_the_gateway_alone(tmp_path: Path, more: Any) -> None:
    (made,) = graph_of(tmp_path, *more).of_type(ENDPOINT)
    assert made.inputs["vpcEndpointType"] == "Gateway"


def test_endpoints_asked_for_stand_beside_nat(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ("nat: none", "nat: single\n      vpc_endpoints: derived"), PUBLIC)
    assert len(graph.of_type(ENDPOINT)) > 5


def test_further_ranges_and_subnets_of_ones_own(tmp_path: Path) -> None:
    own = "cidr: 10.60.0.0/16\n      secondary_cidrs: [10.61.0.0/16]\n      subnets: {use1-az4: 10.61.4.0/22}\n"
    graph = graph_of(tmp_path, ("cidr: 10.60.0.0/16\n", own))
    assert wrong(graph) == {}
    (more,) = graph.of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
    assert more.inputs["cidrBlock"] == "10.61.0.0/16"
    cidrs = {n.inputs["availabilityZoneId"]: n.inputs["cidrBlock"] for n in graph.of_type("aws:ec2/subnet:Subnet")}
    assert cidrs == {"use1-az4": "10.61.4.0/22", "use1-az6": "10.60.192.0/19"}


def test_a_pool_is_built_as_it_says(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        pool(
            "interfaces: [{card: 0, device: 0, type: interface}, {card: 1, device: 1, type: efa-only}]\n"
            "security_groups: [sg-0123456789abcdef0]\n"
            "root_volume_iops: 6000\nroot_volume_throughput: 500\nroot_volume_gib: 300\n"
            "imds_hop_limit: 2\ndetailed_monitoring: true\ntags: {team: vision}\nplacement: spread"
        ),
    )
    assert wrong(graph) == {}
    inputs = template(graph)
    nics = inputs["networkInterfaces"]
    assert [(nic["networkCardIndex"], nic["deviceIndex"], nic["interfaceType"]) for nic in nics] == [
        (0, 0, "interface"),
        (1, 1, "efa-only"),
    ]
    assert all("sg-0123456789abcdef0" in nic["securityGroups"] and len(nic["securityGroups"]) == 2 for nic in nics)
    assert "associatePublicIpAddress" not in nics[0]
    disk = inputs["blockDeviceMappings"][0]["ebs"]
    assert (disk["iops"], disk["throughput"], disk["volumeSize"], disk["encrypted"]) == (6000, 500, 300, "true")
    assert inputs["metadataOptions"]["httpPutResponseHopLimit"] == 2
    assert inputs["monitoring"] == {"enabled": True}
    assert {spec["tags"]["team"] for spec in inputs["tagSpecifications"]} == {"vision"}
    assert {spec["tags"]["landbridge:pool"] for spec in inputs["tagSpecifications"]} == {"p5"}
    groups = graph.of_type("aws:ec2/placementGroup:PlacementGroup")
    assert {group.inputs["strategy"] for group in groups} == {"spread"}


def test_defaults_are_the_careful_ones(tmp_path: Path) -> None:
    inputs = template(graph_of(tmp_path))
    assert inputs["metadataOptions"]["httpPutResponseHopLimit"] == 1
    assert inputs["metadataOptions"]["httpTokens"] == "required"
    assert inputs["monitoring"] == {"enabled": False}
    assert len(inputs["networkInterfaces"]) == 33


def test_efa_can_be_left_out(tmp_path: Path) -> None:
    (nic,) = template(graph_of(tmp_path, pool("efa: false")))["networkInterfaces"]
    assert nic["interfaceType"] == "interface"


def test_a_public_address_is_the_primary_interfaces(tmp_path: Path) -> None:
    (nic,) = template(graph_of(tmp_path, pool("efa: false\npublic_ip: true")))["networkInterfaces"]
    assert nic["associatePublicIpAddress"] == "true"


def test_a_group_of_ones_own_is_named_and_none_is_made(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, pool("placement_group: ours"), ("zones: [use1-az4, use1-az6]", "zones: [use1-az4]"))
    assert graph.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    assert template(graph)["placement"] == {"groupName": "ours"}
    assert graph.outputs["pools"]["p5"]["placement_group"] == "ours"


def test_a_pool_with_several_capacities_leaves_the_buying_to_each_launch(tmp_path: Path) -> None:
    first = "            - {kind: on_demand, zones: [use1-az4, use1-az6]}\n"
    block = "            - {kind: capacity_block, reservation: cr-0123456789abcdef0, zone: use1-az4}\n"
    spot = "            - {kind: spot, zones: [use1-az6], instance: p5en.48xlarge}\n"
    graph = graph_of(tmp_path, (first, block + spot))
    assert wrong(graph) == {}
    inputs = template(graph)
    told = {"instanceMarketOptions", "capacityReservationSpecification", "placement", "networkInterfaces"}
    assert told.isdisjoint(inputs), "a launch cannot unsay what a template says"
    (group,) = graph.of_type("aws:ec2/placementGroup:PlacementGroup")
    subnets = graph.outputs["pools"]["p5"]["subnets"]
    assert [(subnet["zone"], subnet.get("placement_group")) for subnet in subnets] == [
        ("use1-az4", None),
        ("use1-az6", group.inputs["name"]),
    ]


def test_no_group_is_made_where_none_is_wanted(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, pool("placement: none"))
    assert graph.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    assert [subnet.get("placement_group") for subnet in graph.outputs["pools"]["p5"]["subnets"]] == [None, None]


def test_others_get_in_by_rules_that_stay_when_more_come(tmp_path: Path) -> None:
    one = '{source: 10.9.0.0/16, ports: 8000-8100, why: "the lab\'s notebooks"}'
    two = "{source: 10.8.0.0/16, protocol: icmp, why: monitoring}"

    def rules(*entries: str) -> dict[str, Any]:
        more = f"nat: none\n      ingress: [{', '.join(entries)}]"
        graph = graph_of(tmp_path, ("nat: none", more))
        assert wrong(graph) == {}
        return {n.name: n.inputs for n in graph.of_type(INGRESS) if "-ingress-" in n.name}

    (name,) = rules(one)
    assert {key: rules(two, one)[name][key] for key in ("cidrIpv4", "fromPort", "toPort", "ipProtocol")} == {
        "cidrIpv4": "10.9.0.0/16",
        "fromPort": 8000,
        "toPort": 8100,
        "ipProtocol": "tcp",
    }
    assert sorted(rule["fromPort"] for rule in rules(two, one, one).values()) == [-1, 8000]


def test_descriptions_hold_what_ec2_takes(tmp_path: Path) -> None:
    ingress = 'nat: none\n      ingress: [{source: 10.9.0.0/16, protocol: all, why: "the lab\'s \u2013 notebooks"}]'
    graph = graph_of(tmp_path, ("nat: none", ingress), PUBLIC)
    said = [
        str(n.inputs["description"])
        for n in graph.nodes.values()
        if "ecurityGroup" in n.type and "description" in n.inputs
    ]
    assert len(said) > 10
    assert [text for text in said if not re.fullmatch(r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}", text)] == []


def test_a_second_range_is_applied_and_taken_down(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = environment_file.read_text()
    more = "cidr: 10.60.0.0/16\n      secondary_cidrs: [10.61.0.0/16]\n      subnets: {use1-az4: 10.61.4.0/22}\n"
    environment_file.write_text(text.replace("cidr: 10.60.0.0/16\n", more))
    before = left(cloud)
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    assert applied.outputs.network.subnets["use1-az4"].cidr == "10.61.4.0/22"
    vpc = client(cloud, "ec2").describe_vpcs(VpcIds=[applied.outputs.network.vpc_id])["Vpcs"][0]
    assert {one["CidrBlock"] for one in vpc["CidrBlockAssociationSet"]} == {"10.60.0.0/16", "10.61.0.0/16"}
    applied.destroy()
    assert left(cloud) == before
