"""Least privilege of all policies in the graph."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog.aws.iam import iam, iam_actions
from sandbox.pulumi_provider.graph import Graph
from tests.graph.conftest import SANDBOX
from tests.graph.support.policy_documents import PolicyDocument, documents, everything

WILDCARD_RESOURCES = Path(__file__).parent / "wildcard_resources.yaml"
#: In the policy of a role, a bucket or a key these name no resource of their own.
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
    # A key's own policy hands the decision to IAM, whose policies are in this test too.
    assert wide == {("key", "kms:*")}


def test_each_wildcard_resource_has_a_reason_and_each_reason_a_statement(graph: Graph) -> None:
    reasons = yaml_text.load(WILDCARD_RESOURCES.read_text())
    statements_on_all = {
        f"{document.key} {statement['Sid']}"
        for document, statement in statements(graph, "Allow")
        if "*" in listed(statement.get("Resource", []))
    }
    assert statements_on_all == set(reasons)
    assert all(len(reason) > 20 for reason in reasons.values())


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
    return known is not None and any(fnmatchcase(one, name) for one in known.all())


def test_an_action_that_knows_no_resources_is_allowed_on_star_only(graph: Graph) -> None:
    """On an ARN it would be allowed nowhere, and the first to know would be whoever needs it."""
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
                objects = {"/" in one.split(":::")[1] for one in listed(statement["Resource"])}
                assert objects == {name in s3.object}, (document.key, action)


def test_no_role_can_give_itself_rights(graph: Graph) -> None:
    """Passing a role, and attaching a policy, are the two there are: each to one role, and of one thing."""
    document = {
        (one.key, action): statement
        for one, statement in statements(graph, "Allow")
        for action in listed(statement["Action"])
        if action in iam().escalation
    }
    passed = {"launch": ("node", "ec2.amazonaws.com"), "train": ("sagemaker", "sagemaker.amazonaws.com")}
    assert {key for key in document if key[1] == "iam:PassRole"} == {(role, "iam:PassRole") for role in passed}
    for role, (given, service) in passed.items():
        passing = document[role, "iam:PassRole"]
        assert listed(passing["Resource"]) == [f"arn:aws:iam::123456789012:role/variant-{given}"]
        assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": service}}
    for (role, action), statement in document.items():
        if action != "iam:PassRole":
            assert (role, action) == ("budget", "iam:AttachRolePolicy") and "iam:PolicyARN" in str(
                statement["Condition"]
            )


def test_no_trust_is_open(graph: Graph) -> None:
    for document, statement in statements(graph, "Allow"):
        if document.type == TRUST:
            service = statement["Principal"]["Service"]
            assert set(statement["Principal"]) == {"Service"} and isinstance(service, str)
            # EC2 and Lambda hand out a role only to what was made by somebody who may pass it; the others say for whom they act.
            handed = service in ("ec2.amazonaws.com", "lambda.amazonaws.com")
            assert handed or "aws:SourceAccount" in statement["Condition"]["StringEquals"]


def test_every_set_of_values_under_an_allow_is_not_met_by_nothing(graph: Graph) -> None:
    for document, statement in statements(graph, "Allow"):
        for operator, keys in statement.get("Condition", {}).items():
            if operator.startswith("ForAllValues:"):
                absent = statement["Condition"].get("Null", {})
                assert all(absent.get(key) == "false" for key in keys), (document.key, statement["Sid"])
