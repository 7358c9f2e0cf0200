"""Multi-language package: its schema, the plugin, and the resources that a component creates."""

import importlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import grpc
import pulumi
import pulumi_aws as aws
import pytest
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc

import components
from components import multilang
from landbridge import yaml_text
from landbridge.policy import Level, violations
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.policy_view import resources
from tests.graph.conftest import ROOT
from tests.graph.environments.test_program import Answering

OWNED = {"cluster": "lab", "region": "us-east-1", "owner": "me@example.org", "cost_center": "1"}
#: Endings of inputs whose values only AWS knows: ids, names and ARNs.
LIVE_ENDINGS = ("Id", "Ids", "Arn", "Arns", "Name", "Names")
INPUTS: dict[str, dict[str, Any]] = {
    name: importlib.import_module(adapter.__module__).EXAMPLE for name, adapter in multilang.classes().items()
}
#: Components that are part of a hosted one, or that need values of an environment file.
PARTS = {
    "AccountingDatabase": "SlurmController",
    "Alarms": "Guardrails",
    "DirectConnect": "Link",
    "DnsRecords": "Dns",
    "ExistingFileSystems": "FileSystem",
    "ExistingNetwork": "Network",
    "Reaper": "Guardrails",
    "RegionLink": "Link",
    "Trail": "Guardrails",
}


@pytest.fixture(scope="module")
def schema() -> Iterator[dict[str, Any]]:
    """Yield the schema that the plugin returns, started as the engine starts it."""
    with subprocess.Popen(
        [sys.executable, str(ROOT), str(ROOT), "127.0.0.1:1"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as plugin:
        try:
            assert plugin.stdout is not None
            with grpc.insecure_channel(f"127.0.0.1:{int(plugin.stdout.readline())}") as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                yield json.loads(stub.GetSchema(pb.GetSchemaRequest(), timeout=300).schema)
        finally:
            plugin.kill()


def test_the_schema_has_inputs_and_outputs_of_each_component(schema: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (schema["name"], schema["version"]) == ("landbridge", project["version"])
    assert set(schema["resources"]) == {f"landbridge:index:{name}" for name in multilang.classes()}
    for name, inputs in INPUTS.items():
        component = schema["resources"][f"landbridge:index:{name}"]
        assert component["isComponent"] and component["description"]
        assert set(component["requiredInputs"]) <= {_camel(key) for key in (*OWNED, *inputs)}
        # The SDK reads descriptions from a class's own source, not from that of the class it extends.
        own_inputs = {
            key: details for key, details in component["inputProperties"].items() if key in map(_camel, inputs)
        }
        assert len(own_inputs) == len(inputs) and all(details.get("description") for details in own_inputs.values()), (
            name
        )
        # Inputs that determine the number of resources are plain: only ids may be outputs of other resources.
        live = {
            key
            for key, details in component["inputProperties"].items()
            if not details.get("plain") and "items" not in details
        }
        assert all(key.endswith(LIVE_ENDINGS) or key == "clients" for key in live), (name, live)
    capacity = schema["types"]["landbridge:index:CapacityInputs"]
    assert capacity["required"] == ["kind"] and set(capacity["properties"]) >= {"zones", "reservation"}
    outputs = schema["resources"]["landbridge:index:Network"]["properties"]
    assert set(outputs) == {"vpcId", "subnetIds", "routeTableIds"}


@pytest.mark.parametrize("name", multilang.classes())
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_a_component_creates_valid_resources_that_follow_the_policies(name: str, preview: bool) -> None:
    graph = _recorded(name, INPUTS[name], preview)
    created = [node for node in graph.nodes.values() if node.custom and not node.type.startswith("pulumi:")]
    assert created and all("pulumi:providers:aws::aws" in node.provider for node in created)
    wrong = {node.key: list(sdk_args.problems(node.type, node.inputs)) for node in created}
    assert {key: problems for key, problems in wrong.items() if problems} == {}
    assert [str(violation) for violation in violations(resources(graph)) if violation.level is Level.MANDATORY] == []


@pytest.mark.parametrize(("name", "policy"), [("Identity", "lab-launch"), ("SlurmController", "lab-controller-launch")])
def test_launch_rights_are_those_of_the_pools(name: str, policy: str) -> None:
    (pool,) = INPUTS[name]["pools"]
    for inputs, expected in ((INPUTS[name], True), ({**INPUTS[name], "pools": []}, False)):
        graph = _recorded(name, inputs, False)
        (node,) = [node for node in graph.of_type("aws:iam/rolePolicy:RolePolicy") if node.name == policy]
        assert ("ec2:RunInstances" in node.inputs["policy"]) is (pool["instance"] in node.inputs["policy"]) is expected


def test_a_hosted_link_can_be_direct_connect() -> None:
    link = {"kind": "direct_connect", "connection": "dxcon-ffabc123", "vlan": 100.0, "port": "10g"}
    graph = _recorded("Link", {**INPUTS["Link"], "gateway_address": "169.254.80.1", "link": link}, False)
    (interface,) = graph.of_type("aws:directconnect/transitVirtualInterface:TransitVirtualInterface")
    assert interface.inputs["vlan"] == 100 and interface.inputs["customerAddress"] == "169.254.80.1/30"


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("Network", {"cidr": "10.60.0.0/99"}, "cidr"),
        ("Network", {"zones": ["us-east-1a"]}, "zones"),
        ("Pool", {"instance_type": "p5.48xlrge"}, "p5.48xl"),
        ("Pool", {"capacity": [{"kind": "rented"}]}, "capacity"),
        ("Link", {"gateway_address": "gateway"}, "gateway_address"),
    ],
)
def test_wrong_values_are_reported_before_a_resource_is_registered(
    name: str, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(pulumi.InputPropertiesError) as failure:
        _recorded(name, {**INPUTS[name], **wrong}, True)
    problems = str([(error["property_path"], error["reason"]) for error in failure.value.errors or ()])
    assert message in problems, problems


def test_every_component_is_hosted_or_part_of_one_that_is() -> None:
    every = set(components.classes())
    assert every == set(multilang.classes()) | set(PARTS) and set(PARTS.values()) <= set(multilang.classes())


def test_the_plugins_file_names_this_program() -> None:
    plugin = yaml_text.load((ROOT / "PulumiPlugin.yaml").read_text())
    assert plugin["runtime"]["name"] == "python" and (ROOT / "__main__.py").is_file()


def _recorded(name: str, inputs: dict[str, Any], preview: bool) -> Graph:
    def program() -> None:
        options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
        multilang.classes()[name]("lab", {**OWNED, **inputs}, options)

    return record(program, stack="alone", config={}, backing=Answering(), preview=preview)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
