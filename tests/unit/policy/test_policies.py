"""Each policy tells the resource that breaks it, and lets the one pass that keeps it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog.aws.impact import impact_facts
from landbridge.catalog.aws.policy import policy_facts
from landbridge.policy import POLICIES, Resource, resource_violations, violations
from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks import sdk_args
from tests.unit.policy.rows import ROWS, Row


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.policy}-{index}" for index, row in enumerate(ROWS)])
def test_a_policy_tells_what_breaks_it_and_nothing_else(row: Row) -> None:
    told = [one.message for one in violations(row.bad, row.settings) if one.policy == row.policy]
    assert told and any(row.says in message for message in told), told
    kept = () if row.policy == "no-static-keys" else row.good
    assert [str(one) for one in violations(kept, row.settings) if one.policy == row.policy] == []


def test_every_policy_is_broken_by_a_row_and_names_its_source() -> None:
    assert {row.policy for row in ROWS} == set(POLICIES)
    assert all(policy.source and policy.summary for policy in POLICIES.values())


def test_every_type_that_a_policy_names_is_one_of_the_sdk() -> None:
    named = {token for policy in POLICIES.values() for token in policy.types}
    assert [token for token in sorted(named) if sdk_args.args_class(token) is None] == []


def test_what_cannot_have_tags_is_what_the_sdk_says() -> None:
    """For every type that Landbridge makes or knows the fate of; a new one without tags wants its line."""
    known = {*RESOURCE_TYPES, *impact_facts().types, *impact_facts().settings}
    classes = {token: sdk_args.args_class(token) for token in known}
    without = {token for token, cls in classes.items() if cls is not None and "tags" not in sdk_args.fields(cls)}
    assert without - policy_facts().untaggable == set()
    assert known & policy_facts().untaggable == without


@given(
    st.sampled_from(sorted({token for policy in POLICIES.values() for token in policy.types})),
    st.dictionaries(
        st.sampled_from(["policy", "ingress", "metadataOptions", "tags", "networkInterfaces", "rules", "userData", "vpcConfig"]),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=5),
    ),
)  # fmt: skip
def test_no_bag_makes_a_policy_fail(token: str, props: dict[str, object]) -> None:
    resource = Resource(token, "x", props)
    alone, together = list(resource_violations(resource)), violations([resource])
    # A graph says of a resource what the resource says of itself, in words, under a policy's name.
    assert list(together[: len(alone)]) == alone
    assert all(one.message and one.policy in POLICIES and one.resource is resource for one in together)
