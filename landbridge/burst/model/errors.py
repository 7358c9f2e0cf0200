"""Errors of AWS calls, classified by the reaction that they need. The codes are in facts.json."""

import json
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class ErrorKind(StrEnum):
    """Kind of a failed call, by the reaction to it.

    `capacity` and `quota`: try another offering. `throttle`: repeat later. `network`: repeat, as the result of the call is
    unknown. `credentials`: this host has no valid AWS credentials; repeat later, as no pool is the cause.
    `configuration`: try another offering, and an operator has to act; also the kind of an unknown code.
    `token`: the ClientToken cannot be used again, so the launch gets a new one. IdempotentParameterMismatch: the
    offering has changed between a call and its repetition; the instances of the first call are found by their token
    (Ec2.run describes them first). IdempotentInstanceTerminated: an instance of the first call has ended.
    """

    CAPACITY = "capacity"
    QUOTA = "quota"
    TOKEN = "token"
    THROTTLE = "throttle"
    CREDENTIALS = "credentials"
    CONFIGURATION = "configuration"
    NETWORK = "network"

    @property
    def is_transient(self) -> bool:
        """Return whether the same call, with the same token, is repeated in a later pass."""
        return self in (ErrorKind.THROTTLE, ErrorKind.NETWORK, ErrorKind.CREDENTIALS)


@cache
def facts() -> dict[str, Any]:
    """Return the facts of facts.json."""
    content: dict[str, Any] = json.loads(files("landbridge.burst").joinpath("facts.json").read_text(encoding="utf-8"))
    return content


def max_tag_value() -> int:
    """Return the maximum length of a tag's value in EC2."""
    return int(facts()["calls"]["tag_value"])


#: Prefixes of the codes with which EC2 ends an instance whose launch it has accepted (API Reference, StateReason).
_END_PREFIXES = ("Client.", "Server.")


@cache
def _kinds() -> tuple[dict[str, ErrorKind], tuple[tuple[str, ErrorKind], ...]]:
    rows = [
        (code, ErrorKind(kind))
        for kind, codes in facts()["codes"].items()
        if not kind.startswith("//")
        for code in codes
    ]
    exact_codes = {code: kind for code, kind in rows if not code.endswith("*")}
    return exact_codes, tuple((code[:-1], kind) for code, kind in rows if code.endswith("*"))


def classify(code: str) -> ErrorKind:
    """Return the kind of an AWS error code, a botocore exception's name or the code of an instance's end; an unknown one
    is `configuration`."""
    exact_codes, prefixes = _kinds()
    if is_end_code(code):
        if code in facts()["end_codes"]["capacity"]:
            return ErrorKind.CAPACITY
        kind = classify(code.partition(".")[2])
        return kind if kind in (ErrorKind.CAPACITY, ErrorKind.QUOTA) else ErrorKind.CONFIGURATION
    if code in exact_codes:
        return exact_codes[code]
    return next((kind for prefix, kind in prefixes if code.startswith(prefix)), ErrorKind.CONFIGURATION)


def is_end_code(code: str) -> bool:
    """Return whether it is the code of an instance's end, not of a refused call."""
    return code.startswith(_END_PREFIXES)


def is_requested_end(code: str) -> bool:
    """Return whether an instance ended on request, or by an event of EC2: its launch has not failed."""
    return code in facts()["end_codes"]["requested"]


class AwsError(Exception):
    """Failure of an AWS call, after its retries."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message

    @property
    def kind(self) -> ErrorKind:
        """Return the kind of the error."""
        return classify(self.code)
