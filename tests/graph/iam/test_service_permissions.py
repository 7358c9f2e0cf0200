"""Permissions of hosts in AWS in an environment without a site: their roles' policies, evaluated as IAM does."""

import json

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT
from tests.graph.support.cloud_only_environment import write
from tests.graph.support.policy_documents import arn, recorded

ENDPOINT, POLICY = "http://127.0.0.1:4580", "aws:iam/rolePolicy:RolePolicy"
BUCKET, OTHERS = f"arn:aws:s3:::variant-internal-{ACCOUNT}", arn("secretsmanager", "secret:other-AbCdEf")
DATABASE_SECRET = f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:variant-accounting"
SLURM_KEY = arn("secretsmanager", "secret:variant/slurm-key-AbCdEf")
NODES = arn("ec2", "instance/i-1")
MINE, THEIRS = ({"aws:ResourceTag/landbridge:cluster": cluster} for cluster in ("variant", "other"))
OF_POOL = {"aws:ResourceTag/landbridge:pool": "g6e"}
IN_REGION, SECRETS = {"aws:RequestedRegion": "us-east-1"}, {"kms:ViaService": "secretsmanager.us-east-1.amazonaws.com"}


@pytest.mark.parametrize(
    ("role", "action", "resource", "context", "allowed"),
    [
        ("controller", "ec2:TerminateInstances", NODES, {**MINE, **OF_POOL}, True),
        ("controller", "ec2:TerminateInstances", NODES, MINE, False),
        ("controller", "ec2:TerminateInstances", NODES, {**THEIRS, **OF_POOL}, False),
        ("controller", "secretsmanager:GetSecretValue", DATABASE_SECRET, {}, True),
        ("controller", "secretsmanager:PutSecretValue", DATABASE_SECRET, {}, False),
        ("controller", "secretsmanager:PutSecretValue", SLURM_KEY, {}, True),
        ("controller", "secretsmanager:GetSecretValue", OTHERS, {}, False),
        ("controller", "kms:Decrypt", arn("kms", "key/variant-controller"), SECRETS, True),
        ("controller", "kms:Decrypt", arn("kms", "key/variant-controller"), {}, False),
        ("controller", "s3:GetObject", f"{BUCKET}/x", {}, True),
        ("controller", "s3:PutBucketPolicy", BUCKET, {}, False),
        ("controller", "rds:DeleteDBInstance", arn("rds", "db:variant-accounting"), {}, False),
        ("controller", "ec2:DeleteVolume", arn("ec2", "volume/vol-1"), MINE, False),
        ("controller", "ec2:DetachVolume", arn("ec2", "volume/vol-1"), MINE, False),
        ("controller", "iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/variant-controller", {}, False),
        ("controller", "ssmmessages:OpenDataChannel", "*", IN_REGION, True),
        ("controller", "ssm:GetParameter", arn("ssm", "parameter/x"), {}, False),
        ("login", "ssmmessages:OpenDataChannel", "*", IN_REGION, True),
        ("login", "ssmmessages:OpenDataChannel", "*", {"aws:RequestedRegion": "eu-west-1"}, False),
        ("login", "ec2:TerminateInstances", NODES, MINE, False),
        ("login", "ec2:DescribeInstances", "*", {}, False),
        ("login", "s3:GetObject", f"{BUCKET}/x", {}, False),
        ("login", "secretsmanager:GetSecretValue", SLURM_KEY, {}, False),
        ("login", "ssm:SendCommand", NODES, {}, False),
    ],
)
def test_the_role_of_a_host_allows_what_it_needs_alone(
    roles: dict[str, tuple[Document, ...]],
    role: str,
    action: str,
    resource: str,
    context: dict[str, str],
    allowed: bool,
) -> None:
    request = Request(f"arn:aws:iam::{ACCOUNT}:role/variant-{role}", action, resource, context)
    decision = evaluate(request, Policies(roles[role]))
    assert decision.allowed is allowed, decision.why


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Document, ...]]:
    """Return the policies of each host's role."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        graph = recorded(write(tmp_path_factory.mktemp("roles"), "variant", endpoint=ENDPOINT))
    return {
        role: tuple(
            Document.of(node.name, str(node.inputs["policy"]))
            for node in graph.of_type(POLICY)
            if node.name.startswith(f"variant-{role}-")
        )
        for role in ("controller", "login")
    }


def test_the_roles_policies_are_below_iams_limit(roles: dict[str, tuple[Document, ...]]) -> None:
    """Source: IAM User Guide, quotas: 10,240 characters of inline policies in a role, white space apart."""
    for documents in roles.values():
        assert (
            sum(len(json.dumps(list(document.statements), separators=(",", ":"))) + 50 for document in documents)
            < 10_240
        )
