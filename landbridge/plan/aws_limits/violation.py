"""How a refusal is told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LimitViolation:
    """What is wrong with which of the values that were asked about ("" for all together), and what would do instead.

    `instead` are values of these or the others, the nearest that AWS takes, the simplest change first.
    """

    key: str
    message: str
    instead: tuple[tuple[str, int], ...] = ()
