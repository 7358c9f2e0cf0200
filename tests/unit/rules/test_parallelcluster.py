"""The table of ParallelCluster's validators names rules that there are."""

import pytest

from landbridge.rules import RULES
from landbridge.rules.shape import SHAPE
from tests.unit.rules.parallelcluster import Validator, validators
from tests.unit.rules.table import elsewhere

ALL = list(validators())


def test_all_25_are_there() -> None:
    assert len(ALL) == 25


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name.split("Validator")[0])
def test_what_stands_for_a_validator_exists(one: Validator) -> None:
    assert set(one.rules) <= {*RULES, *SHAPE}
    assert set(one.live) <= {row.rule for row in elsewhere()}
    assert one.rules or one.live or one.reason
