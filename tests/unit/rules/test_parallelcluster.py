"""Table of ParallelCluster's validators: each rule in it exists."""

import pytest

from landbridge.rules import RULES
from landbridge.rules.form_findings import FORM_FINDINGS
from tests.unit.rules.parallelcluster import Validator, validators
from tests.unit.rules.table import not_checked

ALL = list(validators())


def test_all_25_validators_are_listed() -> None:
    assert len(ALL) == 25


@pytest.mark.parametrize("validator", ALL, ids=lambda validator: validator.name.split("Validator")[0])
def test_the_rules_that_replace_a_validator_exist(validator: Validator) -> None:
    assert set(validator.rules) <= {*RULES, *FORM_FINDINGS}
    assert set(validator.live) <= {row.rule for row in not_checked()}
    assert validator.rules or validator.live or validator.reason
