"""Codes of AWS by what they ask for."""

import json
from pathlib import Path

import botocore.exceptions
import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import errors
from landbridge.burst.model.errors import AwsError, ErrorKind, classify

FACTS = Path(errors.__file__).parents[1] / "facts.json"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InsufficientInstanceCapacity", ErrorKind.CAPACITY),
        ("InsufficientHostCapacity", ErrorKind.CAPACITY),
        ("InsufficientReservedInstanceCapacity", ErrorKind.CAPACITY),
        ("ReservationCapacityExceeded", ErrorKind.CAPACITY),
        ("Unsupported", ErrorKind.CAPACITY),
        ("SpotMaxPriceTooLow", ErrorKind.CAPACITY),
        ("UnfulfillableCapacity", ErrorKind.CAPACITY),
        ("InsufficientFreeAddressesInSubnet", ErrorKind.CAPACITY),
        ("MaxSpotInstanceCountExceeded", ErrorKind.QUOTA),
        ("VcpuLimitExceeded", ErrorKind.QUOTA),
        ("RequestLimitExceeded", ErrorKind.THROTTLE),
        ("ConcurrentLaunchInProgressForClientToken", ErrorKind.THROTTLE),
        ("InternalError", ErrorKind.NETWORK),
        ("ServiceUnavailable", ErrorKind.NETWORK),
        ("503", ErrorKind.NETWORK),
        ("UnauthorizedOperation", ErrorKind.CONFIGURATION),
        ("InvalidLaunchTemplateId.NotFound", ErrorKind.CONFIGURATION),
        ("InvalidParameterCombination", ErrorKind.CONFIGURATION),
        ("OptInRequired", ErrorKind.CONFIGURATION),
        ("PendingVerification", ErrorKind.CONFIGURATION),
        ("AuthFailure", ErrorKind.CONFIGURATION),
        ("ExpiredToken", ErrorKind.CONFIGURATION),
        ("IdempotentParameterMismatch", ErrorKind.CONFIGURATION),
        ("NoCredentialsError", ErrorKind.CONFIGURATION),
        ("UnsupportedOperation", ErrorKind.CONFIGURATION),
    ],
)
def test_kind_of(code: str, kind: ErrorKind) -> None:
    assert classify(code) is kind and AwsError(code, "").kind is kind


@given(st.text())
def test_any_code_has_a_kind(code: str) -> None:
    assert classify(code) in ErrorKind


def test_every_failed_connection_of_botocore_may_have_done_its_work() -> None:
    known = vars(botocore.exceptions).values()
    kinds = (botocore.exceptions.HTTPClientError, botocore.exceptions.ConnectionError)
    lost = [one for one in known if isinstance(one, type) and issubclass(one, kinds)]
    assert len(lost) > 5
    assert {one.__name__: classify(one.__name__) for one in lost} == {one.__name__: ErrorKind.NETWORK for one in lost}


def test_no_code_is_of_two_kinds_and_the_facts_have_a_date() -> None:
    facts = json.loads(FACTS.read_text())
    codes = [code for kind, group in facts["codes"].items() if kind != "//" for code in group]
    assert len(codes) == len(set(codes)) and facts["as_of"] and facts["codes"]["//"]
