"""Roles of the nodes of single pools: the boot rights and the trust of the nodes' role, and exact rights to pass them."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.plan.outputs import StackOutputs
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import joined, record_stacks
from tests.graph.components.pools.test_network_and_pools import pool, wrong
from tests.graph.components.pools.test_pool_settings import differing
from tests.graph.conftest import SANDBOX
from tests.graph.support import cloud_only_environment
from tests.graph.support.policy_documents import ACCOUNT, Arns

CUSTOM = f"arn:aws:iam::{ACCOUNT}:policy/agents/Scanner"
AGENT = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
SHARED = (
    "protect: false",
    "protect: false\n      iam: {node_policies: ['arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore']}",
)
POLICIES = pool(f"node_policies: ['{AGENT}', '{CUSTOM}']")
#: A second pool, with the nodes' role.
OTHER = (
    "      pools:\n",
    "      pools:\n        - {name: cpu, instance: c7i.large, max_nodes: 1, image: ami-0a11ce5a9db0c5000, "
    "capacity: [{kind: on_demand, zones: [use1-az4]}]}\n",
)
ROLE, POLICY, ATTACHMENT = (
    f"aws:iam/{name}" for name in ("role:Role", "rolePolicy:RolePolicy", "rolePolicyAttachment:RolePolicyAttachment")
)
PROFILE, TEMPLATE = "aws:iam/instanceProfile:InstanceProfile", "aws:ec2/launchTemplate:LaunchTemplate"
NODE, NODE_P5 = (f"arn:aws:iam::{ACCOUNT}:role/variant-{name}" for name in ("node", "node-p5"))
TO_EC2 = {"iam:PassedToService": "ec2.amazonaws.com"}


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def variant(folder: Path, *changes: tuple[str, str]) -> Graph:
    text = SANDBOX.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    file = folder / "Pulumi.variant.yaml"
    file.write_text(text)
    return joined(record_stacks(file, Arns()).values())


def inputs_of(graph: Graph, token: str, name: str) -> dict[str, Any]:
    return next(dict(node.inputs) for node in graph.of_type(token) if node.name == f"variant-{name}")


def principals(graph: Graph, role: str) -> list[Any]:
    """Return the AWS principals of each statement of a role's trust policy."""
    document = json.loads(inputs_of(graph, ROLE, role)["assumeRolePolicy"])
    return [statement["Principal"].get("AWS") for statement in document["Statement"]]


def passing(graph: Graph, role_arn: str, service: str = "ec2.amazonaws.com") -> bool:
    """Return true if the launch role may pass a role to a service."""
    text = inputs_of(graph, POLICY, "launch")["policy"]
    ask = Request(
        f"arn:aws:iam::{ACCOUNT}:role/variant-launch", "iam:PassRole", role_arn, {"iam:PassedToService": service}
    )
    return evaluate(ask, Policies((Document.of("launch", text),))).allowed


def test_a_pool_with_policies_has_its_own_role_with_the_same_rights_and_trust(tmp_path: Path) -> None:
    graph = variant(tmp_path, SHARED, POLICIES, OTHER)
    assert wrong(graph) == {}
    node, pool_role = inputs_of(graph, ROLE, "node"), inputs_of(graph, ROLE, "node-p5")
    assert {**node, "name": pool_role["name"]} == pool_role and pool_role["name"] == "variant-node-p5"
    assert inputs_of(graph, POLICY, "node")["policy"] == inputs_of(graph, POLICY, "node-p5")["policy"]
    attached: dict[str, set[str]] = {}
    for attachment in graph.of_type(ATTACHMENT):
        attached.setdefault(attachment.inputs["role"], set()).add(attachment.inputs["policyArn"].rsplit("/", 1)[1])
    assert attached["variant-node"] == {"AmazonSSMManagedInstanceCore"}
    assert attached["variant-node-p5"] == {"AmazonSSMManagedInstanceCore", "CloudWatchAgentServerPolicy", "Scanner"}
    assert inputs_of(graph, PROFILE, "node-p5")["role"] == "variant-node-p5"


def test_only_nodes_of_the_pool_have_its_role(tmp_path: Path) -> None:
    graph = variant(tmp_path, POLICIES, OTHER)
    profiles = {
        node.name: node.inputs["iamInstanceProfile"]["arn"].rpartition(":")[2] for node in graph.of_type(TEMPLATE)
    }
    assert profiles == {"variant-p5": "variant-node-p5", "variant-cpu": "variant-node"}
    outputs = StackOutputs.model_validate(graph.outputs)
    assert outputs.identity.pool_role_arns == {"p5": NODE_P5}


def test_both_roles_of_nodes_assume_the_roles_of_jobs(tmp_path: Path) -> None:
    graph = variant(tmp_path, POLICIES, OTHER)
    assert principals(graph, "job-internal") == [[NODE, NODE_P5]] * 2
    assert principals(graph, "node-p5") == [None]


def test_a_launch_passes_exactly_the_roles_of_nodes(tmp_path: Path) -> None:
    graph = variant(tmp_path, POLICIES, OTHER)
    assert passing(graph, NODE) and passing(graph, NODE_P5)
    assert not passing(graph, NODE_P5, "lambda.amazonaws.com")
    for other in ("variant-node-p6", "variant-launch", "variant-job-internal", "admin"):
        assert not passing(graph, f"arn:aws:iam::{ACCOUNT}:role/{other}")
    assert passing(variant(tmp_path), NODE) and not passing(variant(tmp_path), NODE_P5)


def test_a_controller_in_aws_passes_the_role_of_a_pool(tmp_path: Path) -> None:
    image = "          image: ami-0a11ce5a9db0c5000\n          capacity"
    change = (image, f"          node_policies: ['{AGENT}']\n{image}")
    file = cloud_only_environment.write(tmp_path, "variant", change, endpoint="http://127.0.0.1:4580")
    graph = joined(record_stacks(file, Arns()).values())
    document = json.loads(inputs_of(graph, POLICY, "controller-launch")["policy"])
    (statement,) = [row for row in document["Statement"] if row["Sid"] == "PassNodeRole"]
    assert statement["Resource"] == [NODE, f"{NODE}-g6e"]
    assert statement["Condition"] == {"StringEquals": TO_EC2}


def test_three_stacks_hand_the_profile_of_the_pool_over(tmp_path: Path) -> None:
    three = ("    owner:", "    stacks: three\n    owner:")
    single, parts = variant(tmp_path, POLICIES), variant(tmp_path, POLICIES, three)
    template = inputs_of(parts, TEMPLATE, "p5")
    assert template["iamInstanceProfile"] == inputs_of(single, TEMPLATE, "p5")["iamInstanceProfile"]


def test_a_second_up_changes_nothing_and_the_first_only_roles_and_the_template(tmp_path: Path) -> None:
    before, first, second = variant(tmp_path), variant(tmp_path, POLICIES), variant(tmp_path, POLICIES)
    assert differing(first, second) == set()
    assert differing(before, first) == {
        "variant-p5",
        "variant-node-p5",
        "variant-node-p5.CloudWatchAgentServerPolicy",
        "variant-node-p5.Scanner",
        "variant-job-internal",
        "variant-launch",
    }
