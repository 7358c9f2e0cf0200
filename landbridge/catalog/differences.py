"""Known differences of the catalogue from other sources, with the correct value (differences.yaml)."""

from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.compare import Difference
from landbridge.catalog.files import Facts, read

Verdict = Literal["ours", "theirs", "both", "unknown"]


class KnownDifference(Facts):
    """Known difference, for each of its subjects and facts. `ours` or `theirs` None: that side does not contain it."""

    peer: str
    subjects: tuple[str, ...]
    facts: tuple[str, ...]
    ours: str | int | None = None
    theirs: str | int | None = None
    right: Verdict
    why: str

    def each(self) -> Iterator[Difference]:
        """Yield the single differences."""
        for subject in self.subjects:
            for fact in self.facts:
                yield Difference(subject, fact, self.ours, self.theirs)


class _Differences(Facts):
    source: str
    as_of: date = Field(alias="date")
    differences: tuple[KnownDifference, ...]


@cache
def known_differences() -> tuple[KnownDifference, ...]:
    """Return the known differences, in the file's order (cached)."""
    return read("differences", _Differences).differences


def explanation(difference: Difference) -> KnownDifference | None:
    """Return the explanation of a difference; None for a new one."""
    return next(
        (known_difference for known_difference in known_differences() if difference in known_difference.each()), None
    )
