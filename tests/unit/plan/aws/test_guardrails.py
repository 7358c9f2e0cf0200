"""Subscribers of budget notifications."""

import pytest

from landbridge.plan.aws.guardrails import subscribers
from tests.unit.core.samples import environment


@pytest.mark.parametrize(
    ("owner", "named", "written_to"),
    [
        ("ml@example.org", [], ("ml@example.org",)),
        ("ml@example.org", ["ops@example.org"], ("ops@example.org",)),
        ("The ML team", [], ()),
        ("team@.org", [], ()),
        ("two words@example.org", [], ()),
        (f"{'x' * 300}@example.org", [], ()),
    ],
)
def test_the_owner_is_written_to_where_that_is_an_address(
    owner: str, named: list[str], written_to: tuple[str, ...]
) -> None:
    changes = {("owner",): owner, ("budget",): {"monthly_usd": 1_000_000, "subscribers": named}}
    assert subscribers(environment(changes)) == written_to
