"""Policies of VPC endpoints, evaluated by requests: this account's principals reach this account's resources, and little more."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply
from tests.graph.components.pools.test_network_and_pools import ENDPOINT, PUBLIC
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import ACCOUNT, graph_of
from tests.graph.support.inventory import client, left

FOREIGN = "999988887777"
OPEN = Document("everything", ({"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"},))
#: A bucket name has no account: only the context of a request has it.
BUCKET = "arn:aws:s3:::a-bucket"
TRUST = ("nat: none", "nat: none\n      endpoint_policy: {accounts: ['111122223333'], readable_buckets: [commoncrawl]}")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield graph_of(tmp_path_factory.mktemp("endpoints"), PUBLIC)


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield graph_of(tmp_path_factory.mktemp("trusting"), PUBLIC, TRUST)


def policy(graph: Graph, service: str) -> Document:
    (node,) = (node for node in graph.of_type(ENDPOINT) if node.inputs["serviceName"].endswith(f".{service}"))
    return Document.of(service, node.inputs["policy"])


def passes(document: Document, action: str, resource: str, principal: str | None, owner: str) -> bool:
    """Return whether a request passes an endpoint. `principal` is the account of its credentials, None for none."""
    context = {"aws:ResourceAccount": owner}
    if principal is not None:
        context |= {"aws:PrincipalAccount": principal, "aws:PrincipalIsAWSService": "false"}
    caller = f"arn:aws:iam::{principal}:role/x" if principal is not None else "anonymous"
    request = Request(caller, action, resource, context)
    # IAM evaluates an endpoint's policy as one that every request must also pass.
    return evaluate(request, Policies((OPEN,), organization=(document,))).allowed


def test_every_endpoint_has_a_policy(graph: Graph) -> None:
    nodes = graph.of_type(ENDPOINT)
    assert len(nodes) > 8
    assert [node.name for node in nodes if not node.inputs.get("policy")] == []


@pytest.mark.parametrize(
    ("principal", "owner", "passed"),
    [(ACCOUNT, ACCOUNT, True), (ACCOUNT, FOREIGN, False), (FOREIGN, ACCOUNT, False), (FOREIGN, FOREIGN, False)],
)
def test_requests_stay_inside_the_account(graph: Graph, principal: str, owner: str, passed: bool) -> None:
    requests = {
        "s3": ("s3:PutObject", f"{BUCKET}/x"),
        "sts": ("sts:AssumeRole", f"arn:aws:iam::{owner}:role/x"),
        "secretsmanager": ("secretsmanager:GetSecretValue", f"arn:aws:secretsmanager:us-east-1:{owner}:secret:x"),
        "kms": ("kms:Decrypt", f"arn:aws:kms:us-east-1:{owner}:key/x"),
        "logs": ("logs:PutLogEvents", f"arn:aws:logs:us-east-1:{owner}:log-group:x"),
        "ec2": ("ec2:ModifySnapshotAttribute", "arn:aws:ec2:us-east-1::snapshot/snap-1"),
        "ssm": ("ssm:GetParameter", f"arn:aws:ssm:us-east-1:{owner}:parameter/x"),
    }
    for service, (action, resource) in requests.items():
        assert passes(policy(graph, service), action, resource, principal, owner) is passed, service


READ_ONLY = [
    ("s3", "s3:GetObject", "arn:aws:s3:::amazon-ssm-us-east-1/latest/debian_amd64/amazon-ssm-agent.deb"),
    ("s3", "s3:GetObject", "arn:aws:s3:::prod-us-east-1-starport-layer-bucket/layer"),
]


@pytest.mark.parametrize("principal", [None, ACCOUNT, FOREIGN])
@pytest.mark.parametrize(("service", "action", "resource"), READ_ONLY)
def test_software_of_aws_is_read_without_credentials(
    graph: Graph, service: str, action: str, resource: str, principal: str | None
) -> None:
    document = policy(graph, service)
    assert passes(document, action, resource, principal, FOREIGN)
    assert not passes(document, "s3:PutObject", resource, principal, FOREIGN), "data could leave in it"
    assert not passes(document, action, resource.replace("us-east-1", "us-west-2"), principal, FOREIGN)


OWNED_BY_AWS = [
    ("ec2", "ec2:RunInstances", "arn:aws:ec2:us-east-1::image/ami-1"),
    ("ec2", "ec2:RunInstances", "arn:aws:ec2:us-east-1:999988887777:capacity-reservation/cr-1"),
    ("ssm", "ssm:GetParameter", "arn:aws:ssm:us-east-1::parameter/aws/service/debian/release/13/latest/amd64"),
    ("ssm", "ssm:GetDocument", "arn:aws:ssm:us-east-1::document/AWS-StartSSHSession"),
]


@pytest.mark.parametrize(("service", "action", "resource"), OWNED_BY_AWS)
def test_resources_of_others_that_the_account_uses(graph: Graph, service: str, action: str, resource: str) -> None:
    document = policy(graph, service)
    assert passes(document, action, resource, ACCOUNT, FOREIGN)
    assert not passes(document, action, resource, FOREIGN, FOREIGN)


def test_the_file_can_trust_accounts_and_list_readable_buckets(trusting: Graph, graph: Graph) -> None:
    other, s3, public = "111122223333", policy(trusting, "s3"), "arn:aws:s3:::commoncrawl"
    for principal, owner in ((ACCOUNT, other), (other, ACCOUNT), (other, other), (ACCOUNT, ACCOUNT)):
        assert passes(s3, "s3:PutObject", f"{BUCKET}/x", principal, owner)
    assert not passes(s3, "s3:PutObject", f"{BUCKET}/x", ACCOUNT, FOREIGN)
    assert passes(s3, "s3:GetObject", f"{public}/x", None, FOREIGN)
    assert passes(s3, "s3:ListBucket", public, ACCOUNT, FOREIGN)
    assert not passes(s3, "s3:PutObject", f"{public}/x", ACCOUNT, FOREIGN)
    assert not passes(policy(graph, "s3"), "s3:GetObject", f"{public}/x", None, FOREIGN)


def test_policies_have_the_partition_and_a_valid_size(graph: Graph) -> None:
    for node in graph.of_type(ENDPOINT):
        text = node.inputs["policy"]
        assert "{" not in text.replace('{"', "").replace("{}", ""), "a placeholder is left"
        # Source: AWS PrivateLink guide, "Control access to VPC endpoints using endpoint policies" (20,480 characters).
        assert len(text) < 20_480
        for statement in json.loads(text)["Statement"]:
            assert statement["Principal"] == "*" and statement["Effect"] == "Allow"


def test_the_gateway_endpoints_policy_is_set_changed_and_read(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    before, ec2 = left(cloud), client(cloud, "ec2")
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    filters = [{"Name": "vpc-id", "Values": [applied.outputs.network.vpc_id]}]
    (endpoint,) = ec2.describe_vpc_endpoints(Filters=filters)["VpcEndpoints"]
    statements: list[dict[str, Any]] = json.loads(endpoint["PolicyDocument"])["Statement"]
    assert statements[0]["Condition"]["StringEquals"]["aws:PrincipalAccount"] == [ACCOUNT]
    applied.destroy()
    assert left(cloud) == before
