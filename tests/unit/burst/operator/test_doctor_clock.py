"""Comparison of this host's clock with the Date header of AWS."""

from email.utils import formatdate

import pytest

from landbridge.burst.operator.doctor import _clock
from landbridge.findings import Severity
from tests.unit.burst.situations import NOW


@pytest.mark.parametrize(
    ("offset", "severity"),
    [(0.9, None), (-29.0, None), (60.0, Severity.WARNING), (-60.0, Severity.WARNING), (400.0, Severity.ERROR)],
)
def test_a_wrong_clock_is_a_finding_before_aws_refuses_its_requests(offset: float, severity: Severity | None) -> None:
    findings = list(_clock(formatdate(NOW, usegmt=True), NOW + offset, 0.2))
    assert [finding.severity for finding in findings] == ([severity] if severity is not None else [])


def test_a_response_without_a_date_is_no_finding() -> None:
    assert list(_clock("", NOW, 0.0)) == []
