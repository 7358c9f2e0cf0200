"""The clock of AWS against this host's, as far as a Date header tells it."""

from email.utils import formatdate

import pytest

from landbridge.burst.operator.doctor import _clock
from landbridge.findings import Severity
from tests.unit.burst.situations import NOW


@pytest.mark.parametrize(
    ("off", "severity"),
    [(0.9, None), (-29.0, None), (60.0, Severity.WARNING), (-60.0, Severity.WARNING), (400.0, Severity.ERROR)],
)
def test_a_clock_that_is_off_is_found_before_aws_refuses_it(off: float, severity: Severity | None) -> None:
    found = list(_clock(formatdate(NOW, usegmt=True), NOW + off, 0.2))
    assert [finding.severity for finding in found] == ([severity] if severity is not None else [])


def test_an_answer_without_a_date_says_nothing() -> None:
    assert list(_clock("", NOW, 0.0)) == []
