"""Policy documents in the graph of an environment."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.serialization import Bag
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT, Answering
from tests.graph.support.cloud_only_environment import write

#: Replacements in the sandbox's environment that add each role; the emulated AWS does not support all of them.
EVERYTHING = (
    (
        "protect: false",
        "protect: false\n      iam: {ssm_activation: {registrations: 2, expires: 2026-12-10T00:00:00Z}, "
        'anywhere: {certificate: "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----"}}\n'
        "      guardrails: {reaper: true, alarms: true, trail: {}}\n"
        "      images: {node: {build: {}}}",
    ),
    (
        "restricted: {sites: [onprem]}",
        "restricted: {sites: [onprem]}\n      partner: {sites: [aws], jobs_may_delete: true}",
    ),
    (
        "          suspend_after: 20\n",
        "          suspend_after: 20\n          actions:\n"
        f"            node_start: [{{script: s3://acme-scripts/setup.sh, sha256: {'f' * 64}}}]\n"
        f"            node_configured: [{{script: s3://variant-internal-{ACCOUNT}/scripts/x.sh, sha256: {'f' * 64}}}]\n",
    ),
    ("budget: {monthly_usd: 1000}", "budget: {monthly_usd: 1000, hard: true}"),
    ("mlops: mlops01}", "mlops: mlops01, monitoring: mlops01}"),
    ("data_hub: {kind: s3}", "data_hub: {kind: s3, classes: {internal: {replica_region: us-west-2}}}"),
    ("    mlops:\n", "    observability: {timers: {}}\n    mlops:\n"),
    ("      mlflow: {port: 5000}", "      mlflow: {port: 5000}\n      sagemaker: {}"),
)
#: Property with the document, by type.
PLACES = {
    "aws:iam/rolePolicy:RolePolicy": "policy",
    "aws:iam/policy:Policy": "policy",
    "aws:iam/role:Role": "assumeRolePolicy",
    "aws:s3/bucketPolicy:BucketPolicy": "policy",
    "aws:kms/key:Key": "policy",
    "aws:sns/topicPolicy:TopicPolicy": "policy",
}


@dataclass(frozen=True)
class PolicyDocument:
    """Policy document with the type and the short name of its resource."""

    type: str
    name: str
    statements: tuple[dict[str, Any], ...]

    @property
    def key(self) -> str:
        role = self.name.removeprefix("controller-").removeprefix("login-")
        return "key" if self.type == "aws:kms/key:Key" else role


class Arns(Answering):
    """Answers of the graph's other tests, with ARNs of AWS's form for the policies."""

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        id_, state = super().create(token, name, inputs)
        path = inputs.get("path", "/")
        arns = {
            "aws:iam/role:Role": f"arn:aws:iam::{ACCOUNT}:role{path}{inputs.get('name')}",
            "aws:iam/policy:Policy": f"arn:aws:iam::{ACCOUNT}:policy{path}{inputs.get('name')}",
            "aws:s3/bucket:Bucket": f"arn:aws:s3:::{inputs.get('bucket')}",
            "aws:kms/key:Key": arn("kms", f"key/{name}"),
            "aws:secretsmanager/secret:Secret": arn("secretsmanager", f"secret:{inputs.get('name')}-AbCdEf"),
            "aws:sns/topic:Topic": arn("sns", str(inputs.get("name"))),
            "aws:cloudwatch/logGroup:LogGroup": arn("logs", f"log-group:{inputs.get('name')}"),
            "aws:rolesanywhere/trustAnchor:TrustAnchor": arn("rolesanywhere", f"trust-anchor/{name}"),
        }
        return id_, {**state, "arn": arns.get(token, state["arn"])}


def everything(tmp_path: Path) -> Graph:
    """Return the graph of the sandbox's environment with each role, and of one whose services are in AWS."""
    text = SANDBOX.read_text()
    for old, new in EVERYTHING:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "Pulumi.variant.yaml"
    file.write_text(text)
    graph, served = recorded(file), recorded(write(tmp_path, "variant", endpoint="http://127.0.0.1:4580"))
    return Graph({**served.nodes, **graph.nodes}, graph.outputs, graph.secret_outputs)


def recorded(file: Path) -> Graph:
    """Return the graph of an environment's file, with ARNs in AWS's form."""
    program, stack, config = program_of(file)
    return record(program, stack=stack, config=config, backing=Arns())


def documents(graph: Graph) -> Iterator[PolicyDocument]:
    """Yield every policy document of a graph."""
    for node in graph.nodes.values():
        text = node.inputs.get(PLACES.get(node.type, ""))
        if isinstance(text, str):
            yield PolicyDocument(node.type, node.name.removeprefix("variant-"), tuple(json.loads(text)["Statement"]))


def text_of(graph: Graph, token: str, name: str) -> str:
    """Return one document as it is in the resource's inputs."""
    (node,) = [candidate for candidate in graph.of_type(token) if candidate.name == f"variant-{name}"]
    return str(node.inputs[PLACES[token]])


def arn(service: str, resource: str) -> str:
    """Return an ARN of the graph's account and region."""
    return f"arn:aws:{service}:us-east-1:{ACCOUNT}:{resource}"
