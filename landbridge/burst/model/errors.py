"""Errors of AWS calls, classified by the reaction that they need. The codes are in facts.json."""

import json
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class ErrorKind(StrEnum):
    """Reaction to a failed call.

    `capacity` and `quota`: try another offering. `throttle`: repeat later. `network`: repeat, as the result of the call is
    unknown. `configuration`: an operator has to act; also for an unknown code and for IdempotentParameterMismatch: the
    offering has changed between a call and its repetition, so a repetition cannot help, and the instances of the first call
    are found by their token (Ec2.run describes them first).
    """

    CAPACITY = "capacity"
    QUOTA = "quota"
    THROTTLE = "throttle"
    CONFIGURATION = "configuration"
    NETWORK = "network"


@cache
def facts() -> dict[str, Any]:
    """Return the facts of facts.json."""
    content: dict[str, Any] = json.loads(files("landbridge.burst").joinpath("facts.json").read_text(encoding="utf-8"))
    return content


def max_tag_value() -> int:
    """Return the maximum length of a tag's value in EC2."""
    return int(facts()["calls"]["tag_value"])


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
    """Return the kind of an AWS error code or a botocore exception's name; an unknown one is `configuration`."""
    exact_codes, beginnings = _kinds()
    if code in exact_codes:
        return exact_codes[code]
    return next((kind for beginning, kind in beginnings if code.startswith(beginning)), ErrorKind.CONFIGURATION)


class AwsError(Exception):
    """AWS call that failed, after its repetitions."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message

    @property
    def kind(self) -> ErrorKind:
        """The reaction that the error needs."""
        return classify(self.code)
