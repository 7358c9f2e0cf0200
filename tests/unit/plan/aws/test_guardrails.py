"""Subscribers of budget notifications."""

import pytest

from landbridge.plan.aws.guardrails import subscribers
from tests.unit.core.samples import environment


@pytest.mark.parametrize(
    ("owner", "named", "expected"),
    [
        ("ml@example.org", [], ("ml@example.org",)),
        ("ml@example.org", ["ops@example.org"], ("ops@example.org",)),
        ("The ML team", [], ()),
        ("team@.org", [], ()),
        ("two words@example.org", [], ()),
        (f"{'x' * 300}@example.org", [], ()),
    ],
)
def test_the_owner_is_a_subscriber_if_it_is_an_email_address(
    owner: str, named: list[str], expected: tuple[str, ...]
) -> None:
    changes = {("owner",): owner, ("budget",): {"monthly_usd": 1_000_000, "subscribers": named}}
    assert subscribers(environment(changes)) == expected
