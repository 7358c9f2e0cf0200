"""Evaluate each claim of docs/explanation/identity.md against the policies of the graph."""

from collections.abc import Iterator

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from sandbox.pulumi_provider.graph import Graph
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.iam.claim import BUCKET, KEY, PARTNER, PARTNER_KEY, ClaimRequest
from tests.graph.iam.claims import ALL, CLAIMS, JOB_ROLES, WATCHING, table
from tests.graph.iam.role_assumptions import ROLE_ASSUMPTIONS, RoleAssumption
from tests.graph.iam.sagemaker_claims import TRAINING
from tests.graph.support.policy_documents import ACCOUNT, everything, text_of

PAGE = ROOT / "docs" / "explanation" / "identity.md"
BEGIN, END = "<!-- claims: tests/graph/iam/claims.py -->\n", "\n<!-- end of claims -->"
OPEN = Document("everything", ({"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"},))
ROWS = [
    pytest.param(role, request_row, id=f"{role}-{number}-{request_row.action}")
    for number, claim in enumerate(CLAIMS)
    for role in claim.roles
    for request_row in claim.requests
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield everything(tmp_path_factory.mktemp("stack"))


def policies(graph: Graph, role: str, request_row: ClaimRequest) -> Policies:
    """Return the policies that IAM evaluates for a request: the role's, and the bucket's or key's of the hub."""
    # The permissions to start training jobs and to approve models are managed policies; the operator attaches them to roles.
    token = "aws:iam/policy:Policy" if role.startswith(("train-", "approve-")) else "aws:iam/rolePolicy:RolePolicy"
    identity_policy = Document.of(role, text_of(graph, token, role))
    resource = None
    for data_class, (bucket, key) in {"internal": (BUCKET, KEY), "partner": (PARTNER, PARTNER_KEY)}.items():
        if request_row.resource.startswith(bucket):
            resource = Document.of("bucket", text_of(graph, "aws:s3/bucketPolicy:BucketPolicy", data_class))
        elif request_row.resource == key:
            resource = Document.of("key", text_of(graph, "aws:kms/key:Key", data_class))
    return Policies(
        (identity_policy, OPEN) if request_row.wide_open else (identity_policy,),
        resource,
        resource_decides=request_row.resource in (KEY, PARTNER_KEY),
    )


@pytest.mark.parametrize(("role", "request_row"), ROWS)
def test_iam_decides_as_the_claim_states(graph: Graph, role: str, request_row: ClaimRequest) -> None:
    principal = f"arn:aws:iam::{ACCOUNT}:role/variant-{role}"
    decision = evaluate(
        Request(principal, request_row.action, request_row.resource, request_row.context),
        policies(graph, role, request_row),
    )
    assert decision.allowed is request_row.allowed, decision.why


@pytest.mark.parametrize("assumption", ROLE_ASSUMPTIONS, ids=lambda row: f"{row.role}-{row.principal}-{row.allowed}")
def test_only_the_named_principal_can_assume_a_role(graph: Graph, assumption: RoleAssumption) -> None:
    trust = Document.of("trust", text_of(graph, "aws:iam/role:Role", assumption.role))
    request = Request(assumption.principal, "sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/x", assumption.context)
    assert evaluate(request, Policies(resource=trust, resource_decides=True)).allowed is assumption.allowed


def test_each_role_has_allowed_and_denied_requests() -> None:
    for role in (*ALL, "archive", *JOB_ROLES, *WATCHING, *TRAINING, "approve-models"):
        decisions = {request_row.allowed for claim in CLAIMS if role in claim.roles for request_row in claim.requests}
        assert decisions == {True, False}, role


def test_the_page_has_these_claims_and_no_others() -> None:
    text = PAGE.read_text()
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == table()
