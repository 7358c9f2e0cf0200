"""Violation of an AWS limit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LimitViolation:
    """Violation: the key of the checked value ("" for all together), the problem, and valid values.

    `instead` are (key, value) pairs: each is the nearest valid value of one key, the simplest change first.
    """

    key: str
    message: str
    instead: tuple[tuple[str, int], ...] = ()
