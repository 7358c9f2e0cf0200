"""Every policy that an environment's graph makes, read where AWS would get it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.recorder import program_of
from sandbox.pulumi_provider.serialization import Bag
from tests.graph.cloud_only import write
from tests.graph.conftest import SANDBOX
from tests.graph.test_program import ACCOUNT, Answering

#: What lets the graph have everything that this proof is about, and what an AWS that is emulated would not take.
EVERYTHING = (
    (
        "protect: false",
        "protect: false\n      iam: {ssm_activation: {registrations: 2, expires: 2026-12-10T00:00:00Z}, "
        'anywhere: {certificate: "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----"}}\n'
        "      guardrails: {reaper: true, trail: {}}\n"
        "      images: {node: {build: {}}}",
    ),
    ("budget: {monthly_usd: 1000}", "budget: {monthly_usd: 1000, hard: true}"),
    ("      mlflow: {port: 5000}", "      mlflow: {port: 5000}\n      sagemaker: {}"),
)
#: The property that holds a document, by type; anything else of the type is not a policy.
PLACES = {
    "aws:iam/rolePolicy:RolePolicy": "policy",
    "aws:iam/policy:Policy": "policy",
    "aws:iam/role:Role": "assumeRolePolicy",
    "aws:s3/bucketPolicy:BucketPolicy": "policy",
    "aws:kms/key:Key": "policy",
}


@dataclass(frozen=True)
class Found:
    """A document, the type it belongs to, and a short name: the role, or what the resource is called."""

    type: str
    name: str
    statements: tuple[dict[str, Any], ...]

    @property
    def key(self) -> str:
        own = self.name.removeprefix("controller-").removeprefix("login-")
        return "key" if self.type == "aws:kms/key:Key" else own


class Arns(Answering):
    """As the graph's other tests answer, with ARNs as AWS makes them: policies are about nothing else."""

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        id_, state = super().create(token, name, inputs)
        path = inputs.get("path", "/")
        made = {
            "aws:iam/role:Role": f"arn:aws:iam::{ACCOUNT}:role{path}{inputs.get('name')}",
            "aws:iam/policy:Policy": f"arn:aws:iam::{ACCOUNT}:policy{path}{inputs.get('name')}",
            "aws:s3/bucket:Bucket": f"arn:aws:s3:::{inputs.get('bucket')}",
            "aws:kms/key:Key": arn("kms", f"key/{name}"),
            "aws:secretsmanager/secret:Secret": arn("secretsmanager", f"secret:{inputs.get('name')}-AbCdEf"),
            "aws:cloudwatch/logGroup:LogGroup": arn("logs", f"log-group:{inputs.get('name')}"),
            "aws:rolesanywhere/trustAnchor:TrustAnchor": arn("rolesanywhere", f"trust-anchor/{name}"),
        }
        return id_, {**state, "arn": made.get(token, state["arn"])}


def everything(tmp_path: Path) -> Graph:
    """The sandbox's environment with everything asked for that has roles, and with it one whose services are in AWS."""
    text = SANDBOX.read_text()
    for old, new in EVERYTHING:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "Pulumi.variant.yaml"
    file.write_text(text)
    graph, served = recorded(file), recorded(write(tmp_path, "variant", endpoint="http://127.0.0.1:4580"))
    return Graph({**served.nodes, **graph.nodes}, graph.outputs, graph.secret_outputs)


def recorded(file: Path) -> Graph:
    """The graph of an environment's file, with ARNs as AWS makes them."""
    program, stack, config = program_of(file)
    return record(program, stack=stack, config=config, backing=Arns())


def documents(graph: Graph) -> Iterator[Found]:
    """Every policy document of a graph."""
    for node in graph.nodes.values():
        text = node.inputs.get(PLACES.get(node.type, ""))
        if isinstance(text, str):
            yield Found(node.type, node.name.removeprefix("variant-"), tuple(json.loads(text)["Statement"]))


def text_of(graph: Graph, token: str, name: str) -> str:
    """One document as it was asked for."""
    (node,) = [one for one in graph.of_type(token) if one.name == f"variant-{name}"]
    return str(node.inputs[PLACES[token]])


def arn(service: str, rest: str) -> str:
    """An ARN of the graph's account and region."""
    return f"arn:aws:{service}:us-east-1:{ACCOUNT}:{rest}"
