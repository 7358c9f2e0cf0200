"""Resources of the program in another region, and the routes between both regions."""

from ipaddress import IPv4Network, ip_network
from pathlib import Path

import pytest

from landbridge.plan.outputs import StackOutputs
from sandbox.pulumi_provider.graph import Graph, GraphNode
from tests.graph.components.pools.test_network_and_pools import internet_gateways_before, wrong
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import graph_of
from tests.graph.iam.whole_launch import Cluster, cluster_of

OHIO = (
    "    link:\n",
    """      other_regions:
        us-east-2:
          cidr: 10.70.0.0/16
          pools: {p5: {capacity: [{kind: on_demand, zones: [use2-az1, use2-az2]}], image: ami-0a11ce5a9db0c5000}}
    link:
""",
)
LISTED = ("internal: {sites: [onprem, aws]}", "internal: {sites: [onprem, aws], regions: [us-east-2]}")
HOME, SITE, AWAY = (ip_network(text) for text in ("10.60.0.0/16", "10.20.0.0/16", "10.70.0.0/16"))


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        return graph_of(tmp_path_factory.mktemp("regions"), OHIO, LISTED)


def in_other_region(graph: Graph) -> list[GraphNode]:
    return [node for node in graph.nodes.values() if node.inputs.get("region") == "us-east-2"]


def test_all_inputs_are_valid(graph: Graph) -> None:
    assert wrong(graph) == {}


def test_all_inputs_are_valid_in_a_preview_too(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, OHIO, LISTED, preview=True)
    assert wrong(graph) == {}
    assert len(in_other_region(graph)) > 20


def test_without_another_region_no_resource_names_one(tmp_path: Path) -> None:
    assert in_other_region(graph_of(tmp_path)) == []
    assert [node.name for node in graph_of(tmp_path).of_type("aws:ec2transitgateway/route:Route")] == []


def test_resources_in_the_other_region_depend_on_resources_there_alone(graph: Graph) -> None:
    """AWS refuses an id of another region; only a peering and the routes to it refer to both regions."""
    names = {node.name for node in in_other_region(graph) if node.type.startswith("aws:")}
    assert {"variant-us-east-2", "variant-p5-us-east-2"} <= names
    home = {
        f"{node.name}-id" for node in graph.nodes.values() if node.custom and node.inputs.get("region") != "us-east-2"
    }
    for node in in_other_region(graph):
        if "eeringAttachment" in node.type or node.type.startswith("aws:ec2transitgateway/route"):
            continue
        texts = {value for value in node.inputs.values() if isinstance(value, str)}
        # Several resources share a component's name; names that only the environment's own region has must not occur.
        only_home = home - {f"{other.name}-id" for other in in_other_region(graph)}
        assert not texts & only_home, node.name


def test_nat_there_depends_on_the_internet_gateway_there(graph: Graph) -> None:
    refused = [node for node in in_other_region(graph) if node.type.split(":")[-1] in ("NatGateway", "Eip")]
    assert len(refused) >= 2
    assert {node.name for node in refused if not internet_gateways_before(graph, node)} == set()


def test_roles_are_in_no_region(graph: Graph) -> None:
    assert [node.name for node in in_other_region(graph) if node.type.startswith("aws:iam/")] == []


def destinations(graph: Graph, table: str) -> set[str]:
    """Return the destination ranges of a transit gateway route table."""
    routes = graph.of_type("aws:ec2transitgateway/route:Route")
    return {node.inputs["destinationCidrBlock"] for node in routes if node.name == table}


def test_both_regions_have_routes_to_each_other(graph: Graph) -> None:
    routes = {
        (node.name, node.inputs["destinationCidrBlock"]) for node in graph.of_type("aws:ec2transitgateway/route:Route")
    }
    name = "variant-us-east-2"
    assert {(f"{name}-home-{table}", str(AWAY)) for table in ("sites", "vpc", "regions")} <= routes
    assert {(f"{name}-onprem", str(SITE)), (f"{name}-10.60.0.0-16", str(HOME))} <= routes
    subnets = graph.of_type("aws:ec2/route:Route")
    for zone in ("use1-az4", "use1-az6"):
        assert any(node.name == f"{name}-home-{zone}" and node.inputs["destinationCidrBlock"] == str(AWAY) for node in subnets)  # fmt: skip
    for zone in ("use2-az1", "use2-az2"):
        ranges = {node.inputs["destinationCidrBlock"] for node in subnets if node.name.endswith(zone)}
        assert {str(SITE), str(HOME)} <= ranges


def test_nodes_in_the_other_region_have_its_range_and_a_nat_gateway(graph: Graph) -> None:
    subnets = [node for node in in_other_region(graph) if node.type == "aws:ec2/subnet:Subnet"]
    assert subnets and all(IPv4Network(node.inputs["cidrBlock"]).subnet_of(AWAY) for node in subnets)
    assert {node.inputs["availabilityZoneId"] for node in subnets} == {"use2-az1", "use2-az2"}
    assert [node.type for node in in_other_region(graph) if node.type == "aws:ec2/natGateway:NatGateway"]


def test_every_pool_permits_slurmd_of_every_range(graph: Graph) -> None:
    """slurmd forwards messages from node to node: if a group refuses one, a healthy node seems to be down."""
    rules = graph.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    for pool in ("variant-p5", "variant-p5-us-east-2"):
        slurmd = {
            rule.inputs.get("cidrIpv4")
            for rule in rules
            if rule.name.startswith(f"{pool}-slurmd") and rule.inputs["fromPort"] == 6818
        }
        assert slurmd == {str(HOME), str(SITE), str(AWAY)}


def test_the_outputs_name_both(graph: Graph) -> None:
    outputs = StackOutputs.model_validate(graph.outputs)
    assert outputs.region_networks["us-east-2"].cidr == str(AWAY)
    pool = outputs.region_pools["us-east-2"]["p5"]
    assert {subnet.zone for subnet in pool.subnets} == {"use2-az1", "use2-az2"}
    assert pool.launch_template_id == "variant-p5-us-east-2-id" != outputs.pools["p5"].launch_template_id


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    text = SANDBOX.read_text().replace(*OHIO).replace(*LISTED)
    file = tmp_path_factory.mktemp("launches") / "Pulumi.variant.yaml"
    file.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        return cluster_of(file)


def test_nodes_are_launched_in_the_environments_regions_alone(cluster: Cluster) -> None:
    offerings = list(cluster.offerings())
    assert {offering.region for _, offering in offerings} == {"", "us-east-2"}
    for pool, offering in offerings:
        request = cluster.request(pool, offering)
        decision = cluster.decide(request, offering.region)
        assert decision.allowed, (offering.key, decision.why)
        assert not cluster.decide(request, "us-west-2").allowed


@pytest.mark.parametrize(("region", "allowed"), [("us-east-1", True), ("us-east-2", True), ("us-west-2", False)])
def test_nodes_are_terminated_in_the_environments_regions_alone(cluster: Cluster, region: str, allowed: bool) -> None:
    account = cluster.with_tags("instance", "i-node", cluster=cluster.name, pool="p5").with_tags(
        "instance", "i-other", cluster="another", pool="p5"
    )
    assert account.decide_termination("i-node", region=region).allowed is allowed
    assert not account.decide_termination("i-other", region=region).allowed
