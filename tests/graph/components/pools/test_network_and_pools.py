"""Network and pools with values that the sandbox's environment leaves at their defaults."""

import re
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from landbridge.burst.aws.launch_call import launch_call
from landbridge.burst.config.config import parse
from landbridge.environment import load_environment
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.burst import burst_config
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import Graph, GraphNode
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import Answering, graph_of, template
from tests.graph.support.inventory import client, left
from tests.unit.burst.launches import attempt

#: A change that removes the endpoints: AWS is the public one.
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
    """Return a change of the sandbox's pool: more keys."""
    return CAPACITY, CAPACITY + "".join(f"          {line}\n" for line in text.splitlines())


def launch_interfaces(folder: Path, graph: Graph) -> list[dict[str, Any]]:
    """Return the network interfaces of the burst controller's launch call."""
    loaded = load_environment(folder / "Pulumi.variant.yaml").environment
    assert loaded is not None
    raw = burst_config(loaded, StackOutputs.model_validate(graph.outputs))
    offering = parse(raw).policy.pools["p5"].offerings[0]
    call: dict[str, Any] = launch_call(attempt("p5-1"), offering, {}, True)
    interfaces: list[dict[str, Any]] = call["NetworkInterfaces"]
    return interfaces


def wrong(graph: Graph) -> dict[str, list[tuple[str, str]]]:
    """Return the inputs that a real provider would refuse, by resource."""
    by_name = {
        node.name: [(sdk_args.spell(path), reason) for path, reason in sdk_args.problems(node.type, node.inputs)]
        for node in graph.nodes.values()
        if node.custom and not node.type.startswith("pulumi:")
    }
    return {name: problems for name, problems in by_name.items() if problems}


def test_a_closed_network_has_an_endpoint_for_every_service_it_uses(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, PUBLIC)
    assert wrong(graph) == {}
    endpoints = {node.inputs["serviceName"]: node.inputs for node in graph.of_type(ENDPOINT)}
    interface = {name: inputs for name, inputs in endpoints.items() if inputs["vpcEndpointType"] == "Interface"}
    assert endpoints["com.amazonaws.us-east-1.s3"]["vpcEndpointType"] == "Gateway"
    assert {"ec2", "sts", "ssm", "secretsmanager", "kms", "logs"} <= {name.rsplit(".", 1)[1] for name in interface}
    zones = len(graph.of_type("aws:ec2/subnet:Subnet"))
    for inputs in interface.values():
        assert inputs["privateDnsEnabled"] is True and len(inputs["subnetIds"]) == zones
        assert len(inputs["securityGroupIds"]) == 1
    opened = [n.inputs for n in graph.of_type(INGRESS) if "endpoints" in n.name]
    assert {(rule["fromPort"], rule["toPort"]) for rule in opened} == {(443, 443)}
    assert {rule["cidrIpv4"] for rule in opened} == {"10.60.0.0/16", "10.20.0.0/16"}


def test_an_endpoint_is_in_the_zones_that_have_its_service_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, invoke = Answering.create, Answering.invoke

    def with_zone(self: Answering, token: str, name: str, inputs: Any) -> Any:
        id_, state = create(self, token, name, inputs)
        zone = "us-east-1a" if inputs.get("availabilityZoneId") == "use1-az6" else "us-east-1b"
        return id_, {**state, "availabilityZone": zone}

    def with_services(self: Answering, token: str, arguments: Any) -> Any:
        zones = ["us-east-1a", *([] if arguments.get("serviceName", "").endswith(".kms") else ["us-east-1b"])]
        return {**invoke(self, token, arguments), "availabilityZones": zones}

    monkeypatch.setattr(Answering, "create", with_zone)
    monkeypatch.setattr(Answering, "invoke", with_services)
    endpoints = {
        node.inputs["serviceName"].rpartition(".")[2]: node.inputs
        for node in graph_of(tmp_path, PUBLIC).of_type(ENDPOINT)
    }
    assert len(endpoints["kms"]["subnetIds"]) == 1 and endpoints["kms"]["subnetIds"][0].endswith("use1-az6-id")
    assert len(endpoints["logs"]["subnetIds"]) > 1


@pytest.mark.parametrize("more", [[], [("nat: none", "nat: single"), PUBLIC]])
def test_an_emulated_aws_and_a_network_with_nat_have_the_gateway_alone(tmp_path: Path, more: Any) -> None:
    (endpoint,) = graph_of(tmp_path, *more).of_type(ENDPOINT)
    assert endpoint.inputs["vpcEndpointType"] == "Gateway"


def test_requested_endpoints_are_created_beside_nat(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ("nat: none", "nat: single\n      vpc_endpoints: derived"), PUBLIC)
    assert len(graph.of_type(ENDPOINT)) > 5


@pytest.mark.parametrize("nat", ["single", "per_zone"])
def test_nat_gateways_and_their_addresses_depend_on_the_internet_gateway(tmp_path: Path, nat: str) -> None:
    """Without this dependency the engine may create them before the internet gateway is attached: EC2 refuses that."""
    graph = graph_of(tmp_path, ("nat: none", f"nat: {nat}"))
    refused = [*graph.of_type("aws:ec2/natGateway:NatGateway"), *graph.of_type("aws:ec2/eip:Eip")]
    assert len(refused) == {"single": 2, "per_zone": 4}[nat]
    assert {node.name for node in refused if not internet_gateways_before(graph, node)} == set()


def internet_gateways_before(graph: Graph, node: GraphNode) -> list[GraphNode]:
    """Return the internet gateways of the node's region that the engine creates before it."""
    token = "aws:ec2/internetGateway:InternetGateway"
    direct = [graph.nodes[urn] for urn in node.dependencies if urn in graph.nodes]
    return [
        other for other in direct if other.type == token and other.inputs.get("region") == node.inputs.get("region")
    ]


def test_ec2_refuses_a_nat_gateway_in_a_network_without_an_internet_gateway(cloud: EmulatorProcess) -> None:
    ec2 = client(cloud, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    with pytest.raises(ClientError, match="has no Internet gateway attached"):
        ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)
    ec2.create_nat_gateway(SubnetId=subnet, ConnectivityType="private")
    for gateway in ec2.describe_nat_gateways(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["NatGateways"]:
        ec2.delete_nat_gateway(NatGatewayId=gateway["NatGatewayId"])
    ec2.release_address(AllocationId=address)
    ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_vpc(VpcId=vpc)


def test_secondary_ranges_and_given_subnets(tmp_path: Path) -> None:
    ranges = "cidr: 10.60.0.0/16\n      secondary_cidrs: [10.61.0.0/16]\n      subnets: {use1-az4: 10.61.4.0/22}\n"
    graph = graph_of(tmp_path, ("cidr: 10.60.0.0/16\n", ranges))
    assert wrong(graph) == {}
    (association,) = graph.of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
    assert association.inputs["cidrBlock"] == "10.61.0.0/16"
    cidrs = {n.inputs["availabilityZoneId"]: n.inputs["cidrBlock"] for n in graph.of_type("aws:ec2/subnet:Subnet")}
    assert cidrs == {"use1-az4": "10.61.4.0/22", "use1-az6": "10.60.192.0/19"}


def test_a_pool_is_created_with_its_settings(tmp_path: Path) -> None:
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
    nics = launch_interfaces(tmp_path, graph)
    assert [(nic["NetworkCardIndex"], nic["DeviceIndex"], nic["InterfaceType"]) for nic in nics] == [
        (0, 0, "interface"),
        (1, 1, "efa-only"),
    ]
    assert all("sg-0123456789abcdef0" in nic["Groups"] and len(nic["Groups"]) == 2 for nic in nics)
    assert "AssociatePublicIpAddress" not in nics[0]
    # EC2 does not document how it merges interfaces of a template with those of a request.
    assert "networkInterfaces" not in inputs
    disk = inputs["blockDeviceMappings"][0]["ebs"]
    assert (disk["iops"], disk["throughput"], disk["volumeSize"], disk["encrypted"]) == (6000, 500, 300, "true")
    assert inputs["metadataOptions"]["httpPutResponseHopLimit"] == 2
    assert inputs["monitoring"] == {"enabled": True}
    assert {spec["tags"]["team"] for spec in inputs["tagSpecifications"]} == {"vision"}
    assert {spec["tags"]["landbridge:pool"] for spec in inputs["tagSpecifications"]} == {"p5"}
    groups = graph.of_type("aws:ec2/placementGroup:PlacementGroup")
    assert {group.inputs["strategy"] for group in groups} == {"spread"}


def test_defaults_are_secure(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    inputs = template(graph)
    assert inputs["metadataOptions"]["httpPutResponseHopLimit"] == 1
    assert inputs["metadataOptions"]["httpTokens"] == "required"
    assert inputs["monitoring"] == {"enabled": False}
    assert len(launch_interfaces(tmp_path, graph)) == 33


def test_efa_can_be_left_out(tmp_path: Path) -> None:
    (nic,) = launch_interfaces(tmp_path, graph_of(tmp_path, pool("efa: false")))
    assert nic["InterfaceType"] == "interface"


def test_a_public_address_is_the_primary_interfaces(tmp_path: Path) -> None:
    (nic,) = launch_interfaces(tmp_path, graph_of(tmp_path, pool("efa: false\npublic_ip: true")))
    assert nic["AssociatePublicIpAddress"] is True


def test_a_given_placement_group_is_used_and_none_is_created(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, pool("placement_group: ours"), ("zones: [use1-az4, use1-az6]", "zones: [use1-az4]"))
    assert graph.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    assert template(graph)["placement"] == {"groupName": "ours"}
    assert graph.outputs["pools"]["p5"]["placement_group"] == "ours"


def test_a_pool_with_several_capacities_leaves_purchase_options_to_each_launch(tmp_path: Path) -> None:
    first = "            - {kind: on_demand, zones: [use1-az4, use1-az6]}\n"
    block = "            - {kind: capacity_block, reservation: cr-0123456789abcdef0, zone: use1-az4}\n"
    spot = "            - {kind: spot, zones: [use1-az6], instance: p5en.48xlarge}\n"
    graph = graph_of(tmp_path, (first, block + spot))
    assert wrong(graph) == {}
    inputs = template(graph)
    launch_settings = {"instanceMarketOptions", "capacityReservationSpecification", "placement", "networkInterfaces"}
    assert launch_settings.isdisjoint(inputs), "a launch cannot remove a setting of its template"
    (group,) = graph.of_type("aws:ec2/placementGroup:PlacementGroup")
    subnets = graph.outputs["pools"]["p5"]["subnets"]
    assert [(subnet["zone"], subnet.get("placement_group")) for subnet in subnets] == [
        ("use1-az4", None),
        ("use1-az6", group.inputs["name"]),
    ]


def test_placement_none_creates_no_group(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, pool("placement: none"))
    assert graph.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    assert [subnet.get("placement_group") for subnet in graph.outputs["pools"]["p5"]["subnets"]] == [None, None]


def test_ingress_rules_keep_their_names_if_entries_are_added(tmp_path: Path) -> None:
    tcp_entry = '{source: 10.9.0.0/16, ports: 8000-8100, why: "the lab\'s notebooks"}'
    icmp_entry = "{source: 10.8.0.0/16, protocol: icmp, why: monitoring}"

    def rules(*entries: str) -> dict[str, Any]:
        change = f"nat: none\n      ingress: [{', '.join(entries)}]"
        graph = graph_of(tmp_path, ("nat: none", change))
        assert wrong(graph) == {}
        return {n.name: n.inputs for n in graph.of_type(INGRESS) if "-ingress-" in n.name}

    (name,) = rules(tcp_entry)
    assert {
        key: rules(icmp_entry, tcp_entry)[name][key] for key in ("cidrIpv4", "fromPort", "toPort", "ipProtocol")
    } == {
        "cidrIpv4": "10.9.0.0/16",
        "fromPort": 8000,
        "toPort": 8100,
        "ipProtocol": "tcp",
    }
    assert sorted(rule["fromPort"] for rule in rules(icmp_entry, tcp_entry, tcp_entry).values()) == [-1, 8000]


def test_descriptions_have_only_characters_that_ec2_permits(tmp_path: Path) -> None:
    ingress = 'nat: none\n      ingress: [{source: 10.9.0.0/16, protocol: all, why: "the lab\'s \u2013 notebooks"}]'
    graph = graph_of(tmp_path, ("nat: none", ingress), PUBLIC)
    descriptions = [
        str(n.inputs["description"])
        for n in graph.nodes.values()
        if "ecurityGroup" in n.type and "description" in n.inputs
    ]
    assert len(descriptions) > 10
    assert [
        text for text in descriptions if not re.fullmatch(r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}", text)
    ] == []


def test_a_second_range_is_created_and_destroyed(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = environment_file.read_text()
    ranges = "cidr: 10.60.0.0/16\n      secondary_cidrs: [10.61.0.0/16]\n      subnets: {use1-az4: 10.61.4.0/22}\n"
    environment_file.write_text(text.replace("cidr: 10.60.0.0/16\n", ranges))
    before = left(cloud)
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    assert applied.outputs.network.subnets["use1-az4"].cidr == "10.61.4.0/22"
    vpc = client(cloud, "ec2").describe_vpcs(VpcIds=[applied.outputs.network.vpc_id])["Vpcs"][0]
    assert {association["CidrBlock"] for association in vpc["CidrBlockAssociationSet"]} == {
        "10.60.0.0/16",
        "10.61.0.0/16",
    }
    applied.destroy()
    assert left(cloud) == before
