"""Resources of the program, recorded without an engine, as a preview and as an update."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest

from landbridge.plan.outputs import StackOutputs
from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import DuplicateUrn, Graph, record
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.recorder import check
from sandbox.pulumi_provider.serialization import Bag, unknown_inside
from tests.graph.conftest import SANDBOX

ACCOUNT = "123456789012"
#: Changes of the sandbox's environment for variants.
MANY_ZONES = ("zones: [use1-az4, use1-az6]", "zones: [use1-az2, use1-az4, use1-az6]")
ONE_ZONE = ("zones: [use1-az4, use1-az6]", "zones: [use1-az4]")
PROTECTED = ("protect: false", "protect: true")
NAT = ("nat: none", "nat: per_zone")
BLOCK = (
    "- {kind: on_demand, zones: [use1-az4, use1-az6]}",
    "- {kind: capacity_block, reservation: cr-0123456789abcdef0, zone: use1-az6}",
)
SPOT = ("- {kind: on_demand, zones: [use1-az4, use1-az6]}", "- {kind: spot, zones: [use1-az4], max_price_usd: 30.5}")


class Answering:
    """Stand-in of AWS that checks inputs as the provider does, and returns invented outputs."""

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        check(token, name, inputs)
        state: Bag = {**inputs, "arn": f"arn:aws:test:us-east-1:{ACCOUNT}:{name}", "keyId": f"key-{name}"}
        state |= {"latestVersion": 1, "availabilityZone": "us-east-1b"}
        state |= {
            "transitGatewayAttachmentId": inputs.get("transitGatewayAttachmentId", f"{token.split(':')[-1]}-{name}")
        }
        state |= {"dnsName": f"{name}.fsx.test", "mountName": "abcdefgh"}
        state |= {"zoneId": f"Z-{name}"} if token == "aws:route53/zone:Zone" else {}
        if "ipAddresses" in inputs:
            state["ipAddresses"] = [
                {"ip": f"10.60.0.{last_octet}", **address}
                for last_octet, address in enumerate(inputs["ipAddresses"], 4)
            ]
        for number in (1, 2):
            state |= {f"tunnel{number}Address": f"198.51.100.2{number}", f"tunnel{number}PresharedKey": f"psk{number}"}
            state |= {
                f"tunnel{number}VgwInsideAddress": "169.254.9.1",
                f"tunnel{number}CgwInsideAddress": "169.254.9.2",
                f"tunnel{number}InsideCidr": inputs.get(f"tunnel{number}InsideCidr", "169.254.9.0/30"),
            }
        if token == "aws:rds/instance:Instance":
            secret = {"kmsKeyId": "key", "secretArn": f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:{name}"}
            state |= {"address": f"{name}.rds.test", "masterUserSecrets": [{**secret, "secretStatus": "active"}]}
        if "directconnect" in token:
            state["bgpAuthKey"] = "bgp-key"
        return f"{name}-id", state

    def invoke(self, token: str, arguments: Bag) -> Bag:
        known = {"accountId": ACCOUNT, "partition": "aws", "availabilityZone": "us-east-1b"}
        return {**known, "value": "ami-0123456789abcdef0"} if "getParameter" in token else known


def graph_of(tmp_path: Path, *changes: tuple[str, str], preview: bool = False) -> Graph:
    text = SANDBOX.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "Pulumi.variant.yaml"
    file.write_text(text)
    program, stack, config = program_of(file)
    return record(program, stack=stack, config=config, backing=Answering(), preview=preview)


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def test_all_inputs_are_valid_in_a_preview_too(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, preview=True)
    by_node = {
        node.key: [(sdk_args.spell(path), reason) for path, reason in sdk_args.problems(node.type, node.inputs)]
        for node in graph.nodes.values()
        if node.custom and not node.type.startswith("pulumi:")
    }
    assert len(by_node) > 40 and {name: wrong for name, wrong in by_node.items() if wrong} == {}


def test_preview_and_update_have_the_same_resources(tmp_path: Path) -> None:
    assert set(graph_of(tmp_path, preview=True).nodes) == set(graph_of(tmp_path).nodes)


def test_outputs_are_stack_outputs_and_keys_stay_secret(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    outputs = StackOutputs.model_validate(graph.outputs)
    assert graph.secret_outputs == {"link_pre_shared_keys"}
    assert outputs.link_pre_shared_keys == ("psk1", "psk2")
    assert "psk1" not in json.dumps(outputs.public())
    assert set(outputs.data_hub.buckets) == {"internal"}, "the restricted class must have no bucket in AWS"


def test_everything_goes_through_the_explicit_provider_and_has_a_parent(tmp_path: Path) -> None:
    for node in graph_of(tmp_path).nodes.values():
        if node.custom and not node.type.startswith("pulumi:"):
            assert "pulumi:providers:aws::aws" in node.provider, node.key
            assert "landbridge:components:" in node.parent, node.key


def test_every_taggable_resource_has_the_clusters_tags(tmp_path: Path) -> None:
    for node in graph_of(tmp_path).nodes.values():
        if node.type in RESOURCE_TYPES and "tags" in sdk_args.fields(_args(node.type)):
            tags = node.inputs.get("tags", {})
            assert tags.get("landbridge:cluster") == "variant" and "landbridge:owner" in tags, node.key


@pytest.mark.parametrize("on", [True, False])
def test_data_is_protected_unless_the_environment_disables_it(tmp_path: Path, on: bool) -> None:
    graph = graph_of(tmp_path, *([PROTECTED] if on else []))
    protected = {node.key for node in graph.nodes.values() if node.protect}
    # A bucket's settings are protected with it: without its policy a bucket would be open.
    data = {
        key
        for key, node in graph.nodes.items()
        if node.type.split("/")[0] in ("aws:s3", "aws:kms", "aws:secretsmanager")
    }
    assert len(data) == 10 and protected == (data if on else set())
    assert graph.of_type("aws:s3/bucket:Bucket")[0].inputs["forceDestroy"] is not on


def test_another_zone_does_not_change_existing_subnets(tmp_path: Path) -> None:
    before, after = graph_of(tmp_path).nodes, graph_of(tmp_path, MANY_ZONES).nodes
    token = "aws:ec2/subnet:Subnet"
    cidrs = {key: node.inputs["cidrBlock"] for key, node in before.items() if node.type == token}
    assert cidrs == {key: after[key].inputs["cidrBlock"] for key in cidrs}
    assert set(before) < set(after)


def test_nat_adds_a_gateway_for_each_zone(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, NAT)
    assert len(graph.of_type("aws:ec2/natGateway:NatGateway")) == 2
    out = [r for r in graph.of_type("aws:ec2/route:Route") if r.inputs["destinationCidrBlock"] == "0.0.0.0/0"]
    assert len([r for r in out if "natGatewayId" in r.inputs]) == 2
    public = [n.inputs["cidrBlock"] for n in graph.of_type("aws:ec2/subnet:Subnet") if "public" in n.name]
    assert len(set(public)) == 2
    assert graph_of(tmp_path).of_type("aws:ec2/natGateway:NatGateway") == []


def template(graph: Graph) -> Any:
    return graph.of_type("aws:ec2/launchTemplate:LaunchTemplate")[0].inputs


def test_a_capacity_block_has_no_placement_group_and_names_its_reservation(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, BLOCK)
    assert graph.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    inputs = template(graph)
    assert inputs["instanceMarketOptions"]["marketType"] == "capacity-block"
    target = inputs["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0123456789abcdef0"} and "placement" not in inputs
    assert graph.outputs["pools"]["p5"]["market"] == "capacity-block"


def test_spot_has_its_maximum_price(tmp_path: Path) -> None:
    options = template(graph_of(tmp_path, SPOT))["instanceMarketOptions"]
    assert options["marketType"] == "spot" and options["spotOptions"]["maxPrice"] == "30.5"


def test_one_zone_puts_the_placement_group_into_the_template(tmp_path: Path) -> None:
    single, double = graph_of(tmp_path, ONE_ZONE), graph_of(tmp_path)
    assert template(single)["placement"] == {"groupName": "variant-p5"}
    assert single.outputs["pools"]["p5"]["placement_group"] == "variant-p5"
    assert "placement" not in template(double)
    groups = [subnet["placement_group"] for subnet in double.outputs["pools"]["p5"]["subnets"]]
    assert groups == ["variant-p5-use1-az4", "variant-p5-use1-az6"]


def test_a_wrong_environment_registers_nothing(tmp_path: Path) -> None:
    with pytest.raises(pulumi.RunError, match="max_nodes"):
        graph_of(tmp_path, ("max_nodes: 4", "max_nodes: -1"))


def test_two_resources_with_one_urn_are_an_error() -> None:
    def program() -> None:
        aws.ec2.Vpc("same", cidr_block="10.0.0.0/16")
        aws.ec2.Vpc("same", cidr_block="10.1.0.0/16")

    with pytest.raises(DuplicateUrn, match="Vpc::same"):
        record(program, stack="s", config={}, backing=Answering())


def test_unknowns_are_unknown_in_a_preview(tmp_path: Path) -> None:
    outputs = graph_of(tmp_path, preview=True).outputs
    assert unknown_inside(outputs["network"]["vpc_id"]) and outputs["network"]["cidr"] == "10.60.0.0/16"


def _args(token: str) -> type:
    cls = sdk_args.args_class(token)
    assert cls is not None
    return cls
