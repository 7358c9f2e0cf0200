"""Each policy reports a resource that violates it, and accepts one that complies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog.aws.access.policy import policy_facts
from landbridge.catalog.aws.impact import impact_facts
from landbridge.policy import POLICIES, Resource, resource_violations, violations
from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks import sdk_args
from tests.unit.policy.rows import ROWS, Row


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.policy}-{index}" for index, row in enumerate(ROWS)])
def test_a_policy_reports_its_violations_and_nothing_else(row: Row) -> None:
    messages = [violation.message for violation in violations(row.bad, row.settings) if violation.policy == row.policy]
    assert messages and any(row.message in message for message in messages), messages
    compliant = () if row.policy == "no-static-keys" else row.good
    assert [str(violation) for violation in violations(compliant, row.settings) if violation.policy == row.policy] == []


def test_every_policy_is_violated_by_a_row_and_names_its_source() -> None:
    assert {row.policy for row in ROWS} == set(POLICIES)
    assert all(policy.source and policy.summary for policy in POLICIES.values())


def test_every_type_that_a_policy_names_is_one_of_the_sdk() -> None:
    named = {token for policy in POLICIES.values() for token in policy.types}
    assert [token for token in sorted(named) if sdk_args.args_class(token) is None] == []


def test_untaggable_types_are_those_without_tags_in_the_sdk() -> None:
    """Check every type that Landbridge creates or has an impact for; a new type without tags needs a line."""
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
def test_no_properties_make_a_policy_fail(token: str, props: dict[str, object]) -> None:
    resource = Resource(token, "x", props)
    alone, together = list(resource_violations(resource)), violations([resource])
    # Violations of a resource are the same alone and in a graph, each with a message and a policy's name.
    assert list(together[: len(alone)]) == alone
    assert all(
        violation.message and violation.policy in POLICIES and violation.resource is resource for violation in together
    )
