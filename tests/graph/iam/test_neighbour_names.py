"""No policy reaches the resources of an environment whose name continues this one's, such as `acme-eu` for `acme`."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from sandbox.pulumi_provider.graph import Graph
from tests.graph.conftest import SANDBOX
from tests.graph.iam.test_least_privilege import listed
from tests.graph.support.policy_documents import ACCOUNT, documents, everything

CLUSTER = "variant"
NEIGHBOUR = f"{CLUSTER}-eu"
#: A part of an ARN that begins with the environment's name and goes on with any characters.
REACHES_ON = re.compile(rf"(?<![a-z0-9-])({CLUSTER}-)\*")
#: Creations: they require the tag of this environment on the new resource, or name only its account's own resource.
CREATIONS = {"sagemaker:CreateTrainingJob", "sagemaker:AddTags"}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield everything(tmp_path_factory.mktemp("stack"))


def requested(conditions: dict[str, dict[str, Any]]) -> dict[str, str | list[str]]:
    """Return a request's context that meets the conditions, except that the resource has the neighbour's tag."""
    context: dict[str, str | list[str]] = {
        key: [str(value).replace("*", "x") for value in listed(values)][:1]
        for operator, keys in conditions.items()
        if operator != "Null" and "Not" not in operator
        for key, values in keys.items()
    }
    return context | {f"{service}:ResourceTag/landbridge:cluster": NEIGHBOUR for service in ("aws", "ec2", "sagemaker")}


def test_no_policy_reaches_an_environment_whose_name_continues_this_one(graph: Graph) -> None:
    reached, tried = set[tuple[str, str, str]](), 0
    for document in documents(graph):
        if document.type not in ("aws:iam/rolePolicy:RolePolicy", "aws:iam/policy:Policy"):
            continue
        policies = Policies((Document(document.name, document.statements),))
        for statement in document.statements:
            for pattern in listed(statement.get("Resource", [])) if statement["Effect"] == "Allow" else ():
                resource = REACHES_ON.sub(r"\1eu-x", pattern).replace("*", "x")
                if REACHES_ON.search(pattern) is None:
                    continue
                tried += 1
                context = requested(statement.get("Condition", {}))
                for action in set(listed(statement["Action"])) - CREATIONS:
                    request = Request(f"arn:aws:iam::{ACCOUNT}:role/x", action, resource, context)
                    if evaluate(request, policies).allowed:
                        reached.add((document.name, action, resource))
    assert tried and not reached, sorted(reached)
