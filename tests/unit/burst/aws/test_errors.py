"""Classification of AWS error codes by the required reaction."""

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
        ("PendingVerification", ErrorKind.CAPACITY),
        ("AuthFailure", ErrorKind.CREDENTIALS),
        ("ExpiredToken", ErrorKind.CREDENTIALS),
        ("IdempotentParameterMismatch", ErrorKind.TOKEN),
        ("IdempotentInstanceTerminated", ErrorKind.TOKEN),
        ("AuthFailure.ServiceLinkedRoleCreationNotPermitted", ErrorKind.CONFIGURATION),
        ("NoCredentialsError", ErrorKind.CREDENTIALS),
        ("CredentialRetrievalError", ErrorKind.CREDENTIALS),
        ("UnauthorizedSSOTokenError", ErrorKind.CREDENTIALS),
        ("RequestExpired", ErrorKind.CREDENTIALS),
        ("Server.InsufficientInstanceCapacity", ErrorKind.CAPACITY),
        ("Server.SpotInstanceTermination", ErrorKind.CAPACITY),
        ("Client.VolumeLimitExceeded", ErrorKind.QUOTA),
        ("Client.InternalError", ErrorKind.CONFIGURATION),
        ("Server.InternalError", ErrorKind.CONFIGURATION),
        ("Client.InvalidSnapshot.NotFound", ErrorKind.CONFIGURATION),
        ("UnsupportedOperation", ErrorKind.CONFIGURATION),
    ],
)
def test_an_error_code_is_classified_by_kind(code: str, kind: ErrorKind) -> None:
    assert classify(code) is kind and AwsError(code, "").kind is kind


@given(st.text())
def test_any_code_has_a_kind(code: str) -> None:
    assert classify(code) in ErrorKind


def test_every_connection_error_of_botocore_is_a_network_error() -> None:
    exceptions = vars(botocore.exceptions).values()
    kinds = (botocore.exceptions.HTTPClientError, botocore.exceptions.ConnectionError)
    connection_errors = [error for error in exceptions if isinstance(error, type) and issubclass(error, kinds)]
    assert len(connection_errors) > 5
    assert {error.__name__: classify(error.__name__) for error in connection_errors} == {
        error.__name__: ErrorKind.NETWORK for error in connection_errors
    }


def test_each_error_code_has_one_kind_and_the_facts_have_a_date() -> None:
    facts = json.loads(FACTS.read_text())
    codes = [code for kind, group in facts["codes"].items() if kind != "//" for code in group]
    assert len(codes) == len(set(codes)) and facts["as_of"] and facts["codes"]["//"]
