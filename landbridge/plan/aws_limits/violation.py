"""Violation of an AWS limit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LimitViolation:
    """Violation: the key of the checked value ("" for all together), the problem, and valid values instead.

    `instead` are values of these or the others, the nearest that AWS takes, the simplest change first.
    """

    key: str
    message: str
    instead: tuple[tuple[str, int], ...] = ()
