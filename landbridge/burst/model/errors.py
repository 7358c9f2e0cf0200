"""What went wrong in AWS, by what has to be done about it. The codes are in facts.json."""

import json
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class ErrorKind(StrEnum):
    """What a failed call asks for.

    `capacity` and `quota`: another offering. `throttle`: the same later. `network`: the same again, as nobody knows whether the
    call did its work. `configuration`: a person. The last is what an unknown code is, too, and IdempotentParameterMismatch:
    the offering has changed between a call and its repetition, so repeating it cannot help, and what the first call may have
    launched is found by its token (Ec2.run looks before it gives up).
    """

    CAPACITY = "capacity"
    QUOTA = "quota"
    THROTTLE = "throttle"
    CONFIGURATION = "configuration"
    NETWORK = "network"


@cache
def facts() -> dict[str, Any]:
    """facts.json."""
    found: dict[str, Any] = json.loads(files("landbridge.burst").joinpath("facts.json").read_text(encoding="utf-8"))
    return found


@cache
def _kinds() -> tuple[dict[str, ErrorKind], tuple[tuple[str, ErrorKind], ...]]:
    rows = [
        (code, ErrorKind(kind))
        for kind, codes in facts()["codes"].items()
        if not kind.startswith("//")
        for code in codes
    ]
    whole = {code: kind for code, kind in rows if not code.endswith("*")}
    return whole, tuple((code[:-1], kind) for code, kind in rows if code.endswith("*"))


def classify(code: str) -> ErrorKind:
    """The kind of an AWS error code or a botocore exception's name; what is not known needs a person."""
    whole, beginnings = _kinds()
    if code in whole:
        return whole[code]
    return next((kind for beginning, kind in beginnings if code.startswith(beginning)), ErrorKind.CONFIGURATION)


class AwsError(Exception):
    """An AWS call that failed, after its repetitions."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message

    @property
    def kind(self) -> ErrorKind:
        return classify(self.code)
