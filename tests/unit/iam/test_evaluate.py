"""Evaluation of IAM policies in the order of IAM's guide: one row for each way to an answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.ops.iam import Answer, Document, Policies, Request, evaluate

ROLE = "arn:aws:iam::111111111111:role/node"
SESSION = "arn:aws:sts::111111111111:assumed-role/node/i-1"
USER = "arn:aws:iam::111111111111:user/ana"
BUCKET = "arn:aws:s3:::data/x"
ALLOW, DENY, NONE = Answer.ALLOW, Answer.EXPLICIT_DENY, Answer.IMPLICIT_DENY


def policy(effect: str, principal: Any = None, action: str = "s3:GetObject", **elements: Any) -> Document:
    statement = {"Sid": effect, "Effect": effect, "Action": action, "Resource": "arn:aws:s3:::data/*", **elements}
    return Document(effect.lower(), (statement if principal is None else {**statement, "Principal": principal},))


YES, NO, ELSE = policy("Allow"), policy("Deny"), policy("Allow", action="s3:PutObject")
TO_SESSION, TO_ROLE = policy("Allow", {"AWS": SESSION}), policy("Allow", {"AWS": ROLE})
TO_ACCOUNT, TO_ALL = policy("Allow", {"AWS": "arn:aws:iam::111111111111:root"}), policy("Allow", "*")
FOREIGN = "222222222222"


@pytest.mark.parametrize(
    ("policies", "answer"),
    [
        # Identity policies alone.
        (Policies(), NONE),
        (Policies(identity=(YES,)), ALLOW),
        (Policies(identity=(ELSE,)), NONE),
        (Policies(identity=(ELSE, YES)), ALLOW),
        (Policies(identity=(YES, NO)), DENY),
        # A deny wins in every kind of policy.
        (Policies(identity=(YES,), resource=policy("Deny", "*")), DENY),
        (Policies(identity=(YES,), boundary=NO), DENY),
        (Policies(identity=(YES,), session=NO), DENY),
        (Policies(identity=(YES,), organization=(NO,)), DENY),
        (Policies(resource=TO_SESSION, identity=(NO,)), DENY),
        # Each limit must allow, and none of them allows by itself.
        (Policies(identity=(YES,), boundary=YES), ALLOW),
        (Policies(identity=(YES,), boundary=ELSE), NONE),
        (Policies(boundary=YES), NONE),
        (Policies(identity=(YES,), session=ELSE), NONE),
        (Policies(identity=(YES,), session=YES), ALLOW),
        (Policies(session=YES), NONE),
        (Policies(identity=(YES,), organization=(YES, ELSE)), NONE),
        (Policies(identity=(YES,), organization=(YES, YES)), ALLOW),
        (Policies(organization=(YES,)), NONE),
        # The resource's policy, in one account.
        (Policies(resource=TO_ROLE), ALLOW),
        (Policies(resource=TO_ALL), ALLOW),
        (Policies(resource=TO_SESSION), ALLOW),
        (Policies(resource=TO_ACCOUNT), NONE),
        (Policies(resource=TO_ACCOUNT, identity=(YES,)), ALLOW),
        (Policies(resource=policy("Allow", {"AWS": "arn:aws:iam::111111111111:role/other"})), NONE),
        # With a boundary it allows only a principal that it names directly.
        (Policies(resource=TO_ROLE, boundary=ELSE), NONE),
        (Policies(resource=TO_ALL, boundary=ELSE), NONE),
        (Policies(resource=TO_SESSION, boundary=ELSE), ALLOW),
        (Policies(resource=TO_SESSION, session=ELSE), ALLOW),
        (Policies(resource=TO_SESSION, organization=(ELSE,)), NONE),
        # If the resource decides, as KMS keys do, identity policies count only if its policy permits them.
        (Policies(identity=(YES,), resource_decides=True), NONE),
        (Policies(identity=(YES,), resource=TO_ACCOUNT, resource_decides=True), ALLOW),
        (Policies(resource=TO_ACCOUNT, resource_decides=True), NONE),
        (Policies(resource=TO_ROLE, resource_decides=True), ALLOW),
    ],
)
def test_within_one_account(policies: Policies, answer: Answer) -> None:
    decision = evaluate(Request(ROLE, "s3:GetObject", BUCKET, session=SESSION), policies)
    assert decision.answer is answer, decision.why


@pytest.mark.parametrize(
    ("policies", "answer"),
    [
        (Policies(identity=(YES,)), NONE),
        (Policies(resource=TO_ROLE), NONE),
        (Policies(resource=TO_SESSION), NONE),
        (Policies(identity=(YES,), resource=TO_ROLE), ALLOW),
        (Policies(identity=(YES,), resource=TO_ACCOUNT), ALLOW),
        (Policies(identity=(YES,), resource=TO_ROLE, boundary=ELSE), NONE),
    ],
)
def test_between_accounts(policies: Policies, answer: Answer) -> None:
    request = Request(ROLE, "s3:GetObject", BUCKET, session=SESSION, resource_account=FOREIGN)
    assert evaluate(request, policies).answer is answer


def test_a_user_is_named_directly() -> None:
    named = Policies(resource=policy("Allow", {"AWS": USER}), boundary=ELSE)
    assert evaluate(Request(USER, "s3:GetObject", BUCKET), named).allowed


def test_a_service_is_named_by_its_principal() -> None:
    trust = Document.of("trust", '{"Statement": {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}}')  # fmt: skip
    policies = Policies(resource=trust, resource_decides=True)
    assert evaluate(Request("ec2.amazonaws.com", "sts:AssumeRole", ROLE), policies).allowed
    assert not evaluate(Request("lambda.amazonaws.com", "sts:AssumeRole", ROLE), policies).allowed
    assert not evaluate(Request(USER, "sts:AssumeRole", ROLE), policies).allowed


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ({"Effect": "Deny", "NotAction": "s3:GetObject", "Resource": "*"}, ALLOW),
        ({"Effect": "Deny", "NotAction": "s3:PutObject", "Resource": "*"}, DENY),
        ({"Effect": "Deny", "Action": "S3:getobject", "NotResource": "arn:aws:s3:::other/*"}, DENY),
        ({"Effect": "Deny", "Action": "s3:*", "NotResource": "arn:aws:s3:::data/*"}, ALLOW),
        ({"Effect": "Deny", "Action": "s3:Get?bject", "Resource": "arn:aws:s3:::${aws:PrincipalTag/gone}/*"}, ALLOW),
        (
            {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {"Bool": {"aws:ViaAWSService": "false"}}},
            ALLOW,
        ),
        (
            {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {"Null": {"aws:PrincipalTag/x": "true"}}},
            DENY,
        ),
    ],
)
def test_the_elements_of_a_statement(statement: dict[str, Any], answer: Answer) -> None:
    decision = evaluate(Request(ROLE, "s3:GetObject", BUCKET), Policies(identity=(YES, Document("more", (statement,)))))
    assert decision.answer is answer, decision.why


@pytest.mark.parametrize(
    ("principal", "answer"), [({"AWS": "111111111111"}, ALLOW), ({"AWS": ROLE}, ALLOW), ({"AWS": USER}, DENY)]
)
def test_not_principal_denies_all_others(principal: Any, answer: Answer) -> None:
    statement = {"Effect": "Deny", "NotPrincipal": principal, "Action": "*", "Resource": "*"}
    policies = Policies(identity=(YES,), resource=Document("resource", (statement,)))
    assert evaluate(Request(ROLE, "s3:GetObject", BUCKET), policies).answer is answer


def test_a_decision_names_its_statement() -> None:
    assert evaluate(Request(ROLE, "s3:GetObject", BUCKET), Policies(identity=(YES, NO))).why == "deny: Deny"
    limited = Policies(identity=(YES,), boundary=Document("the boundary", ()))
    assert evaluate(Request(ROLE, "s3:GetObject", BUCKET), limited).why == "the boundary does not allow it"


DOCUMENTS = st.lists(st.sampled_from([YES, NO, ELSE]), max_size=4).map(tuple)
LIMITS = st.sampled_from([None, YES, NO, ELSE])


@given(DOCUMENTS, LIMITS, LIMITS, st.sampled_from([None, TO_SESSION, TO_ROLE, TO_ACCOUNT, TO_ALL]))
def test_a_limit_never_allows_and_a_deny_always_wins(
    identity: tuple[Document, ...], boundary: Document | None, session: Document | None, resource: Document | None
) -> None:
    request = Request(ROLE, "s3:GetObject", BUCKET, session=SESSION)
    free = evaluate(request, Policies(identity, resource))
    limited = evaluate(request, Policies(identity, resource, boundary, session))
    assert free.allowed or not limited.allowed
    refused = evaluate(request, Policies((*identity, NO), resource, boundary, session))
    assert refused.answer is DENY
