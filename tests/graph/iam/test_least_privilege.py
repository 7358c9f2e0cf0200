"""Least privilege of all policies in the graph."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog.aws.access.iam import iam, iam_actions
from sandbox.pulumi_provider.graph import Graph
from tests.graph.conftest import SANDBOX
from tests.graph.support.policy_documents import PolicyDocument, documents, everything

WILDCARD_RESOURCES = Path(__file__).parent / "wildcard_resources.yaml"
#: Type whose policy is a trust policy, without resources.
TRUST = "aws:iam/role:Role"


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield everything(tmp_path_factory.mktemp("stack"))


def listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def statements(graph: Graph, effect: str | None = None) -> Iterator[tuple[PolicyDocument, dict[str, Any]]]:
    for document in documents(graph):
        for statement in document.statements:
            if effect in (None, statement["Effect"]):
                yield document, statement


def test_no_statement_allows_a_wildcard_action(graph: Graph) -> None:
    wide = {
        (document.key, action)
        for document, statement in statements(graph, "Allow")
        for action in listed(statement["Action"])
        if "*" in action or "?" in action
    }
    # A key's policy delegates the decision to IAM, whose policies are in this test too. The guides of AWS's services ask
    # for GenerateDataKey* in the policy of a key that a service uses.
    assert wide == {("key", "kms:*"), ("key", "kms:GenerateDataKey*")}


def test_each_wildcard_resource_has_a_reason_and_each_reason_a_statement(graph: Graph) -> None:
    reasons = yaml_text.load(WILDCARD_RESOURCES.read_text())
    statements_on_all = {
        f"{_role(document.key)} {statement['Sid']}"
        for document, statement in statements(graph, "Allow")
        if "*" in listed(statement.get("Resource", []))
    }
    assert statements_on_all == set(reasons)
    assert all(len(reason) > 20 for reason in reasons.values())


def _role(key: str) -> str:
    """Return the role of a policy; SageMaker's roles of the data classes are one, and so are the policies to start jobs."""
    return next((role for role in ("sagemaker", "train") if key.startswith(f"{role}-")), key)


def test_every_action_is_one_that_its_service_has(graph: Graph) -> None:
    for document, statement in statements(graph):
        for action in listed(statement["Action"]):
            assert exists(action), (document.key, action)


@pytest.mark.parametrize("action", ["s3:GetObjects", "ec2:TerminateInstance", "iam:PassRoles", "nothing:Get", "s3"])
def test_an_action_that_does_not_exist_is_caught(action: str) -> None:
    assert not exists(action)


def exists(action: str) -> bool:
    service, _, name = action.partition(":")
    known = iam_actions(service)
    if action == "*":
        return True
    return known is not None and any(fnmatchcase(pattern, name) for pattern in known.all())


def test_an_action_without_resource_types_is_allowed_on_star_only(graph: Graph) -> None:
    """With an ARN such an action would be allowed nowhere, which only its user would notice."""
    for document, statement in statements(graph, "Allow"):
        for action in listed(statement["Action"]) if document.type != TRUST else []:
            known = iam_actions(action.partition(":")[0])
            if known is not None and action.partition(":")[2] in known.none:
                assert statement["Resource"] == "*", (document.key, action)


def test_buckets_and_objects_are_not_mixed_up(graph: Graph) -> None:
    s3 = iam_actions("s3")
    assert s3 is not None
    for document, statement in statements(graph, "Allow"):
        for action in listed(statement["Action"]):
            service, _, name = action.partition(":")
            if service == "s3" and document.type != "aws:s3/bucketPolicy:BucketPolicy":
                objects = {"/" in resource.split(":::")[1] for resource in listed(statement["Resource"])}
                assert objects == {name in s3.object}, (document.key, action)


def test_no_role_can_extend_its_permissions(graph: Graph) -> None:
    """Only passing a role and attaching a policy are allowed: each for one role, and one service or policy."""
    document = {
        (policy_document.key, action): statement
        for policy_document, statement in statements(graph, "Allow")
        for action in listed(statement["Action"])
        if action in iam().escalation
    }
    passed = {"launch": ("node", "ec2.amazonaws.com")} | {
        f"train-{name}": (f"sagemaker-{name}", "sagemaker.amazonaws.com") for name in ("internal", "partner")
    }
    assert {key for key in document if key[1] == "iam:PassRole"} == {(role, "iam:PassRole") for role in passed}
    for role, (passed_role, service) in passed.items():
        passing = document[role, "iam:PassRole"]
        assert listed(passing["Resource"]) == [f"arn:aws:iam::123456789012:role/variant-{passed_role}"]
        assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": service}}
    for (role, action), statement in document.items():
        if action != "iam:PassRole":
            assert (role, action) == ("budget", "iam:AttachRolePolicy") and "iam:PolicyARN" in str(
                statement["Condition"]
            )


def test_no_trust_is_open(graph: Graph) -> None:
    for document, statement in statements(graph, "Allow"):
        if document.type == TRUST:
            if "AWS" in statement["Principal"]:
                # Only the roles of jobs are assumed by a role: that of the nodes.
                assert document.key.startswith("job-")
                assert statement["Principal"] == {"AWS": "arn:aws:iam::123456789012:role/variant-node"}
                continue
            service = statement["Principal"]["Service"]
            assert set(statement["Principal"]) == {"Service"} and isinstance(service, str)
            # EC2 and Lambda use a role only if the creator of the resource may pass it; others state their caller's account.
            needs_pass_role = service in ("ec2.amazonaws.com", "lambda.amazonaws.com")
            assert needs_pass_role or "aws:SourceAccount" in statement["Condition"]["StringEquals"]


def test_every_for_all_values_condition_of_an_allow_requires_the_key(graph: Graph) -> None:
    for document, statement in statements(graph, "Allow"):
        for operator, keys in statement.get("Condition", {}).items():
            if operator.startswith("ForAllValues:"):
                absent = statement["Condition"].get("Null", {})
                assert all(absent.get(key) == "false" for key in keys), (document.key, statement["Sid"])
