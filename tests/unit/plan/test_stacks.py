"""Stack names and layers, dependencies between stacks, and environment files that Pulumi created."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import environment_from_config
from landbridge.environment.file.fork import begun
from landbridge.environment.stacks import LAYERS
from landbridge.findings import FindingsError
from landbridge.plan.stacks import environment_name, planned_stacks, stack_called, stack_name, stacks_of_another_shape
from landbridge.realise.state import dependents
from tests.unit.core.samples import GOOD

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,23}", fullmatch=True)


@given(name=NAMES, shape=st.sampled_from(["one", "three"]))
def test_a_stack_name_gives_its_environment_and_layers(name: str, shape: str) -> None:
    raw = {**GOOD, "stacks": shape}
    environment = environment_from_config(name, "us-east-1", raw)
    stacks = planned_stacks(environment)
    assert tuple(layer for stack in stacks for layer in stack.layers) == LAYERS, "every layer once, from the bottom up"
    for stack in stacks:
        assert environment_name(stack.name, raw) == name and stack_called(environment, stack.name) == stack
        assert stack.is_partial is (shape == "three")
    assert {stack_name(environment, layer) for layer in LAYERS} == {stack.name for stack in stacks}
    assert not {stack.name for stack in stacks} & {stack.name for stack in stacks_of_another_shape(environment)}


@pytest.mark.parametrize("stack", ["acme", "acme-base", "-cluster", "cluster"])
def test_an_unknown_stack_name_is_refused_with_the_existing_names(stack: str) -> None:
    with pytest.raises(FindingsError, match=f"{stack}-foundation, {stack}-cluster, {stack}-platform"):
        environment_name(stack, {"stacks": "three"})


def state_resource(token: str, name: str, id_: str, inputs: dict[str, Any], **outputs: str) -> dict[str, Any]:
    return {"urn": f"urn:pulumi:s::p::{token}::{name}", "type": token, "id": id_, "inputs": inputs, "outputs": outputs}


BELOW = {
    "resources": [
        state_resource("aws:ec2/vpc:Vpc", "net", "vpc-1", {}),
        state_resource("aws:iam/role:Role", "who", "acme-launch", {}, arn="arn:aws:iam::1:role/acme-launch"),
        {"urn": "urn:pulumi:s::p::pulumi:providers:aws::aws", "type": "pulumi:providers:aws", "id": "uuid"},
    ]
}


@pytest.mark.parametrize(
    ("inputs", "depends"),
    [
        ({"vpcId": "vpc-1"}, True),
        ({"rules": [{"groups": ["sg-1", {"of": "vpc-1"}]}]}, True),
        ({"policy": "x", "roles": ["arn:aws:iam::1:role/acme-launch"]}, True),
        ({"vpcId": "vpc-2"}, False),
        ({"tags": {"why": "vpc-1"}, "tagsAll": {"why": "vpc-1"}}, False),
        ({"description": "beside vpc-1"}, False),
        ({"provider": "uuid"}, False),
        ({}, False),
    ],
)
def test_a_resource_with_an_id_of_another_stack_depends_on_it(inputs: dict[str, Any], depends: bool) -> None:
    above = {"resources": [state_resource("aws:ec2/securityGroup:SecurityGroup", "pool", "sg-1", inputs)]}
    assert dependents(above, BELOW) == ({"pool"} if depends else set())
    assert dependents({}, BELOW) == dependents(above, {}) == set()


@pytest.mark.parametrize(
    ("text", "region", "keys"),
    [
        ("config:\n  aws:region: eu-central-1\n", "eu-central-1", ""),
        ("encryptionsalt: v1:a:b\nconfig:\n  aws:region: us-east-1\n", "us-east-1", "encryptionsalt: v1:a:b\n"),
        ("encryptionsalt: v1:a:b\n", None, "encryptionsalt: v1:a:b\n"),
    ],
)
def test_a_file_of_pulumi_without_an_environment_may_be_completed(text: str, region: str | None, keys: str) -> None:
    unfinished = begun(text)
    assert unfinished is not None and (unfinished.region, unfinished.keys) == (region, keys)
    assert unfinished.ends("config:\n  a: 1\n") == f"config:\n  a: 1\n{keys}"


@pytest.mark.parametrize(
    "text",
    [
        "config:\n  landbridge:environment: {}\n",
        "config:\n  aws:region: us-east-1\n  other:key: 1\n",
        "config: 7\n",
        "- 1\n",
    ],
)
def test_any_other_file_is_not_an_unfinished_file_of_pulumi(text: str) -> None:
    assert begun(text) is None
