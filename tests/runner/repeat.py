"""Repetition of failed tests: which are repeated, and the result of both runs together."""

from collections.abc import Iterable
from pathlib import Path

from tests.runner.results import Outcome

#: More failed tests than this are no rare failures, and repeating them would outlast CI's time.
MOST_TESTS, MOST_FILES = 40, 8


def is_worthwhile(outcome: Outcome) -> bool:
    """Return true when few enough tests failed."""
    return 0 < len(outcome.failures) <= MOST_TESTS and len(_files(outcome.failures)) <= MOST_FILES


def selection(outcome: Outcome, folder: Path) -> Path:
    """Write pytest's arguments for the repetition into a file: the tests, or their files if tests share state."""
    names = _files(outcome.failures) if outcome.tier.shares_state else list(outcome.failures)
    file = folder / f"{outcome.tier.name}-repeated.args"
    file.write_text("".join(f"{name}\n" for name in names))
    return file


def merge(first: Outcome, second: Outcome) -> dict[str, str]:
    """Take tests that passed in the second run out of the first one's failures; return them with their first errors."""
    first.failures_repeated = dict(second.failures)
    if second.broken or not second.counts["passed"]:
        return {}
    rare = {test: message for test, message in first.failures.items() if test not in second.failures}
    for test in rare:
        del first.failures[test]
    first.counts["failed"] -= len(rare)
    first.counts["passed"] += len(rare)
    return rare


def _files(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))
