"""Findings: errors as data. Rules and checks return them; only the command line prints them."""

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
    """Result of a rule: its place in the file, a message and a fix.

    `path` is the path inside the file's data, `related` the other paths that take part (for instance the second of two
    overlapping ranges). A finding is dropped where one of them could not be read, so a rule names every value that it has read:
    `("aws", "pools", "*", "name")` is every pool's name, `("aws", "pools", "*", "")` which pools there are. `line` and
    `column` count from 1 and are None only where there is no file.
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
        """The same finding, located."""
        return replace(self, file=file, line=line, column=column)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, for `--format json`."""
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
    """Return an error at `path`. Its rule is empty: the decorator of the rule that yields it puts its name there."""
    return Finding("", message, path, fix, Severity.ERROR, related)


def warning(path: DataPath, message: str, *, fix: str | None = None, related: tuple[DataPath, ...] = ()) -> Finding:
    """Return a warning, as `error` does."""
    return Finding("", message, path, fix, Severity.WARNING, related)


def info(path: DataPath, message: str, *, fix: str | None = None, related: tuple[DataPath, ...] = ()) -> Finding:
    """Return an information, as `error` does."""
    return Finding("", message, path, fix, Severity.INFO, related)


class FindingsError(Exception):
    """Raised where a caller needs a value and there are only findings; carries all of them."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))


def has_errors(findings: Iterable[Finding]) -> bool:
    """True when at least one finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings without repetitions, in the order in which a person reads the file."""
    unique = {(f.rule, f.path, f.message): f for f in findings}
    return tuple(sorted(unique.values(), key=lambda f: (f.file or "", f.line or 0, f.column or 0, f.rule, f.message)))


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to `word`, or None when none is close."""
    return _closest(word, tuple(str(item) for item in known))


# The same slip is often made many times in a file.
@lru_cache(maxsize=256)
def _closest(word: str, known: tuple[str, ...]) -> str | None:
    folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def path_text(path: DataPath) -> str:
    """A path as people write it: `aws.pools[0].instance`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
