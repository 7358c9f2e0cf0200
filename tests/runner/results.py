"""Results of tests, one JSON line each, as tests/conftest.py writes them while a tier runs."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.runner.tiers import Tier

#: Environment variable with the file into which tests/conftest.py writes one line for each test that has ended.
VARIABLE = "LANDBRIDGE_TESTS_RESULTS"


@dataclass
class Outcome:
    """Result of one run of a tier: counts, reasons of skips, failed tests with their errors in short."""

    tier: Tier
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    #: Errors of tests that failed in the repetition too.
    failures_repeated: dict[str, str] = field(default_factory=dict)
    broken: str = ""
    log: Path | None = None
    #: Seconds of set-up, tests and teardown, by test file.
    file_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    #: Seconds of processor time by test file: pytest's and those of ended children, without the machines of a lab.
    file_processor_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))


#: Outcome of a set-up or teardown that passed: it has a duration and is not a result.
PHASE = "phase"


def line(test: str, outcome: str, message: str = "", seconds: float = 0.0, processor_seconds: float = 0.0) -> str:
    """Return one result, or the duration of a phase, as a line."""
    row = {"test": test, "outcome": outcome, "message": message}
    durations = {"seconds": round(seconds, 3), "processor_seconds": round(processor_seconds, 3)}
    return json.dumps(row | durations) + "\n"


def read(file: Path, outcome: Outcome) -> Outcome:
    """Add the results of `file` to an outcome. A test that failed in any of its phases has failed once."""
    worst: dict[str, str] = {}
    for row in map(json.loads, file.read_text().splitlines()):
        test, state = row["test"], row["outcome"]
        file_of_test = test.partition("::")[0]
        outcome.file_seconds[file_of_test] += row["seconds"]
        outcome.file_processor_seconds[file_of_test] += row["processor_seconds"]
        if state == PHASE:
            continue
        if state == "failed" or test not in worst:
            worst[test] = state
        if state == "failed":
            outcome.failures.setdefault(test, row["message"])
        elif state == "skipped":
            outcome.reasons[row["message"]] += 1
    outcome.counts.update(worst.values())
    return outcome
