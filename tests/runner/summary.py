"""Summary of a run: a table of tiers, reasons of skips, rare failures and failed tests."""

from collections.abc import Iterator, Mapping, Sequence

from tests.runner.results import Outcome

#: CI shows the end of the log alone.
LAST_LINES = 40
SLOWEST_FILES = 5
#: Failed tests whose errors are printed in more than one line.
DETAILED = 3


def line(outcome: Outcome) -> str:
    """Return one line about a tier that has ended while another one runs."""
    counts = outcome.counts
    text = f"{outcome.tier.name}: {counts['passed']} passed, {counts['failed']} failed in {outcome.seconds:.0f} s"
    return ", ".join([text, *([outcome.broken] if outcome.broken else []), *outcome.failures])


def _longest(file_seconds: Mapping[str, float]) -> str:
    """Return the files with the most seconds, for one line."""
    slowest = sorted(file_seconds.items(), key=lambda item: -item[1])[:SLOWEST_FILES]
    return ", ".join(f"{path.removeprefix('tests/')} {seconds:.0f} s" for path, seconds in slowest if seconds >= 1)


def _first_line(message: str) -> str:
    return message.partition("\n")[0]


def _details(outcome: Outcome) -> Iterator[str]:
    """Yield the errors of the first failed tests, in both runs; CI shows no log."""
    for test, message in list(outcome.failures.items())[:DETAILED]:
        for run, text in (("", message), (" when repeated", outcome.failures_repeated.get(test, ""))):
            if "\n" in text or (run and text):
                yield f"error of {test}{run}:"
                yield from (f"  {part}" for part in text.splitlines())


def lines(outcomes: Sequence[Outcome], rare: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines, failed tests last, so that a log that is cut keeps them."""
    yield f"\n{'tier':8} {'passed':>7} {'failed':>7} {'not run':>8} {'seconds':>8}"
    for outcome in outcomes:
        counts = outcome.counts
        yield (
            f"{outcome.tier.name:8} {counts['passed']:7} {counts['failed']:7} {counts['skipped']:8}"
            f" {outcome.seconds:8.0f}  {outcome.broken}".rstrip()
        )
    for outcome in outcomes:
        if files := _longest(outcome.file_seconds):
            yield f"slowest files of {outcome.tier.name}: {files}"
        if files := _longest(outcome.file_processor_seconds):
            total = sum(outcome.file_processor_seconds.values())
            yield f"processor time of {outcome.tier.name}: {total:.0f} s: {files}"
    for outcome in outcomes:
        for reason, count in outcome.reasons.most_common():
            yield f"not run: {count} of {outcome.tier.name}: {reason}"
    for outcome in outcomes:
        yield from _details(outcome)
    yield f"rare failures: {len(rare)}"
    for test, message in rare.items():
        yield f"rare failure (passed when repeated alone): {test}: {_first_line(message)}"
    failed = [
        f"failed: {test}: {_first_line(message)} (log: {outcome.log})"
        for outcome in outcomes
        for test, message in outcome.failures.items()
    ]
    failed += [
        f"failed: {outcome.tier.name}: {outcome.broken} (log: {outcome.log})" for outcome in outcomes if outcome.broken
    ]
    room = LAST_LINES - 4
    if len(failed) > room:
        yield f"{len(failed) - room} more failed tests are in the logs"
    yield from failed[-room:]
