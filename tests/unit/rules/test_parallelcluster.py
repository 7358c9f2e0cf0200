"""The table of ParallelCluster's validators names rules that there are."""

import pytest

from landbridge.rules import RULES
from landbridge.rules.form_findings import FORM_FINDINGS
from tests.unit.rules.parallelcluster import Validator, validators
from tests.unit.rules.table import not_checked

ALL = list(validators())


def test_all_25_are_there() -> None:
    assert len(ALL) == 25


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name.split("Validator")[0])
def test_what_stands_for_a_validator_exists(one: Validator) -> None:
    assert set(one.rules) <= {*RULES, *FORM_FINDINGS}
    assert set(one.live) <= {row.rule for row in not_checked()}
    assert one.rules or one.live or one.reason
