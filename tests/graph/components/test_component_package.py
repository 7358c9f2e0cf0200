"""The component package: the schema that other languages' SDKs are made from, the plugin itself, and what a component makes."""

import importlib
import json
import subprocess
import sys
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
#: Components that are part of a hosted one, or that look at what only an environment names.
PARTS = {
    "AccountingDatabase": "SlurmController",
    "DirectConnect": "Link",
    "DnsRecords": "Dns",
    "ExistingNetwork": "Network",
    "Reaper": "Guardrails",
    "RegionLink": "Link",
    "Trail": "Guardrails",
}


@pytest.fixture(scope="module")
def schema() -> Iterator[dict[str, Any]]:
    """Return the plugin's answer, started as the engine starts it."""
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


@pytest.mark.timeout(900)
def test_the_schema_says_what_each_component_takes_and_gives(schema: dict[str, Any]) -> None:
    assert (schema["name"], schema["version"]) == ("landbridge", "0.1.0")
    assert set(schema["resources"]) == {f"landbridge:index:{name}" for name in multilang.classes()}
    for name, inputs in INPUTS.items():
        found = schema["resources"][f"landbridge:index:{name}"]
        assert found["isComponent"] and found["description"]
        assert set(found["requiredInputs"]) <= {_camel(key) for key in (*OWNED, *inputs)}
        # The SDK reads descriptions from a class's own source, not from that of the class it extends.
        own = {key: one for key, one in found["inputProperties"].items() if key in map(_camel, inputs)}
        assert len(own) == len(inputs) and all(one.get("description") for one in own.values()), name
        # What decides how much is made is known before anything is: only ids may come from elsewhere.
        live = {key for key, one in found["inputProperties"].items() if not one.get("plain") and "items" not in one}
        assert all(key.endswith(LIVE_ENDINGS) or key == "clients" for key in live), (name, live)
    capacity = schema["types"]["landbridge:index:CapacityInputs"]
    assert capacity["required"] == ["kind"] and set(capacity["properties"]) >= {"zones", "reservation"}
    outputs = schema["resources"]["landbridge:index:Network"]["properties"]
    assert set(outputs) == {"vpcId", "subnetIds", "routeTableIds"}


@pytest.mark.parametrize("name", multilang.classes())
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_a_component_makes_what_an_environment_would(name: str, preview: bool) -> None:
    graph = _recorded(name, INPUTS[name], preview)
    made = [node for node in graph.nodes.values() if node.custom and not node.type.startswith("pulumi:")]
    assert made and all("pulumi:providers:aws::aws" in node.provider for node in made)
    wrong = {node.key: list(sdk_args.problems(node.type, node.inputs)) for node in made}
    assert {key: found for key, found in wrong.items() if found} == {}
    assert [str(one) for one in violations(resources(graph)) if one.level is Level.MANDATORY] == []


def test_a_hosted_link_can_be_a_leased_line() -> None:
    line = {"kind": "direct_connect", "connection": "dxcon-ffabc123", "vlan": 100.0, "port": "10g"}
    graph = _recorded("Link", {**INPUTS["Link"], "gateway_address": "169.254.80.1", "link": line}, False)
    (interface,) = graph.of_type("aws:directconnect/transitVirtualInterface:TransitVirtualInterface")
    assert interface.inputs["vlan"] == 100 and interface.inputs["customerAddress"] == "169.254.80.1/30"


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("Network", {"cidr": "10.60.0.0/99"}, "cidr"),
        ("Network", {"zones": ["us-east-1a"]}, "zones"),
        ("Pool", {"instance_type": "p5.48xlrge"}, "p5.48xl"),
        ("Pool", {"capacity": [{"kind": "rented"}]}, "capacity"),
        ("Link", {"gateway_address": "gateway"}, "gateway_address"),
    ],
)
def test_wrong_values_are_told_before_anything_is_registered(name: str, wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(pulumi.InputPropertiesError) as told:
        _recorded(name, {**INPUTS[name], **wrong}, True)
    problems = str([(one["property_path"], one["reason"]) for one in told.value.errors or ()])
    assert says in problems, problems


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
