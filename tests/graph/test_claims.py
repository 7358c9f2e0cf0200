"""Each claim of docs/explanation/identity.md, asked of the policies that the graph makes."""

from collections.abc import Iterator

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from sandbox.pulumi_provider.graph import Graph
from tests.graph.asks import BUCKET, KEY, Ask
from tests.graph.claims import ALL, CLAIMS, WATCHING, table
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.documents import ACCOUNT, everything, text_of
from tests.graph.sagemaker_claims import TRAINING
from tests.graph.takings import TAKING, Taking

PAGE = ROOT / "docs" / "explanation" / "identity.md"
BEGIN, END = "<!-- claims: tests/graph/claims.py -->\n", "\n<!-- end of claims -->"
OPEN = Document("everything", ({"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"},))
ROWS = [
    pytest.param(role, ask, id=f"{role}-{number}-{ask.action}")
    for number, claim in enumerate(CLAIMS)
    for role in claim.roles
    for ask in claim.asks
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield everything(tmp_path_factory.mktemp("stack"))


def policies(graph: Graph, role: str, ask: Ask) -> Policies:
    """Return the policies that IAM evaluates for a request: the role's, and the bucket's or key's of the hub."""
    # Whoever starts training jobs bears a policy, and a role of somebody else's.
    token = "aws:iam/policy:Policy" if role == "train" else "aws:iam/rolePolicy:RolePolicy"
    own = Document.of(role, text_of(graph, token, role))
    resource = None
    if ask.resource.startswith(BUCKET):
        resource = Document.of("bucket", text_of(graph, "aws:s3/bucketPolicy:BucketPolicy", "internal"))
    elif ask.resource == KEY:
        resource = Document.of("key", text_of(graph, "aws:kms/key:Key", "internal"))
    return Policies((own, OPEN) if ask.wide_open else (own,), resource, resource_decides=ask.resource == KEY)


@pytest.mark.parametrize(("role", "ask"), ROWS)
def test_a_claim(graph: Graph, role: str, ask: Ask) -> None:
    principal = f"arn:aws:iam::{ACCOUNT}:role/variant-{role}"
    decision = evaluate(Request(principal, ask.action, ask.resource, ask.context), policies(graph, role, ask))
    assert decision.allowed is ask.allowed, decision.why


@pytest.mark.parametrize("taking", TAKING, ids=lambda one: f"{one.role}-{one.service}-{one.allowed}")
def test_who_may_take_a_role(graph: Graph, taking: Taking) -> None:
    trust = Document.of("trust", text_of(graph, "aws:iam/role:Role", taking.role))
    request = Request(taking.service, "sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/x", taking.context)
    assert evaluate(request, Policies(resource=trust, resource_decides=True)).allowed is taking.allowed


def test_every_role_has_what_it_may_and_what_it_may_not() -> None:
    for role in (*ALL, *WATCHING, *TRAINING):
        asked = {ask.allowed for claim in CLAIMS if role in claim.roles for ask in claim.asks}
        assert asked == {True, False}, role


def test_the_page_has_these_claims_and_no_others() -> None:
    text = PAGE.read_text()
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == table()
