"""Findings: errors as data. Rules and checks return them; only the CLI prints them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from typing import Any

PathPart = str | int
DataPath = tuple[PathPart, ...]


class Severity(StrEnum):
    """Severity of a finding. Only an error makes an environment unusable."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a rule: its position in the file, a message and a fix.

    `path` is the path inside the file's data, `related` are the other paths involved (for instance the second of two
    overlapping ranges). A finding is dropped if one of these values was repaired, so a rule lists every value that it
    reads: `("aws", "pools", "*", "name")` is the name of each pool, `("aws", "pools", "*", "")` is the list of pools.
    `line` and `column` count from 1 and are None only without a file.
    """

    rule: str
    message: str
    path: DataPath = ()
    fix: str | None = None
    severity: Severity = Severity.ERROR
    related: tuple[DataPath, ...] = ()
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def at(self, file: str | None, line: int | None, column: int | None) -> "Finding":
        """Return the finding with a position."""
        return replace(self, file=file, line=line, column=column)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, for `--format json`."""
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "message": self.message,
            "fix": self.fix,
            "path": list(self.path),
            "related": [list(path) for path in self.related],
            "file": self.file,
            "line": self.line,
            "column": self.column,
        }

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        head = f"{place}: " if place else ""
        tail = f" ({self.fix})" if self.fix else ""
        return f"{head}{self.severity.value}: {self.message} [{self.rule}]{tail}"


def error(path: DataPath, message: str, *, fix: str | None = None, related: tuple[DataPath, ...] = ()) -> Finding:
    """Return an error at `path`. Its rule is empty: the decorator of the rule sets it."""
    return Finding("", message, path, fix, Severity.ERROR, related)


def warning(path: DataPath, message: str, *, fix: str | None = None, related: tuple[DataPath, ...] = ()) -> Finding:
    """Return a warning, like `error`."""
    return Finding("", message, path, fix, Severity.WARNING, related)


def info(path: DataPath, message: str, *, fix: str | None = None, related: tuple[DataPath, ...] = ()) -> Finding:
    """Return a finding of severity info, like `error`."""
    return Finding("", message, path, fix, Severity.INFO, related)


class FindingsError(Exception):
    """Exception with all findings, if no value can be returned."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))


def has_errors(findings: Iterable[Finding]) -> bool:
    """Return true if at least one finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings without duplicates, sorted by position in the file."""
    unique = {(f.rule, f.path, f.message): f for f in findings}
    return tuple(sorted(unique.values(), key=lambda f: (f.file or "", f.line or 0, f.column or 0, f.rule, f.message)))


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the known word closest to `word`; None if none is close."""
    return _closest(word, tuple(str(item) for item in known))


# The same misspelling often occurs many times in a file.
@lru_cache(maxsize=256)
def _closest(word: str, known: tuple[str, ...]) -> str | None:
    folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def path_text(path: DataPath) -> str:
    """Return a path as users write it: `aws.pools[0].instance`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
