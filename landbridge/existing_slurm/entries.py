"""Entries of Slurm's configuration files: keys and values of one logical line, with their positions.

A comment starts at `#`; a line that ends with a backslash continues on the next one; keys are case-insensitive; a value
with spaces has quotes; `Include` reads another file. Source: Slurm's parser, src/common/parse_config.c of 23.11 to 26.05.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from landbridge.findings import Finding

_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*([-*+/]?)=\s*("([^"]*)"|\S+)(?=\s|$)')
_INCLUDE = re.compile(r"\s*include\s+(\S+)\s*$", re.IGNORECASE)
#: Slurm itself has no limit and would read a file that includes itself until its memory ends.
_MAX_DEPTH = 10

#: Returns the text of a file by its path; None if it cannot be read.
Opener = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Position:
    """Position in a configuration file; line and column count from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Key and value. `at` is the position of the key, `value_at` that of the value; quotes are removed."""

    key: str
    value: str
    at: Position
    value_at: Position


@dataclass(frozen=True, slots=True)
class ConfLine:
    """Logical line of a configuration file: its pairs, and the physical line of the outermost file that it comes from."""

    pairs: tuple[Pair, ...]
    outer_line: int

    @property
    def key(self) -> str:
        """Return the first key in lower case: `nodename`."""
        return self.pairs[0].key.casefold()

    @property
    def at(self) -> Position:
        """Return the position of the first key."""
        return self.pairs[0].at


def read_entries(path: str, open_text: Opener, cluster: str = "") -> tuple[tuple[ConfLine, ...], tuple[Finding, ...]]:
    """Return the entries of a file and of the files that it includes, in Slurm's order, and what could not be read."""
    findings: list[Finding] = []
    text = open_text(path)
    if text is None:
        return (), (_unreadable(Position(path, 1, 1), path),)
    entries = tuple(_read(path, text, open_text, cluster, None, 0, findings))
    return entries, tuple(findings)


def _read(
    path: str, text: str, open_text: Opener, cluster: str, outer: int | None, depth: int, findings: list[Finding]
) -> Iterator[ConfLine]:
    for parts in _logical_lines(text):
        line = "".join(part for _, part in parts)
        if not line.strip():
            continue
        outer_line = parts[0][0] if outer is None else outer
        include = _INCLUDE.match(line)
        if include is None:
            yield from _entry(path, line, parts, outer_line, findings)
            continue
        at = Position(path, parts[0][0], include.start(1) + 1)
        if "/" in include[1]:
            findings.append(_not_sent(at, include[1]))
        # Source: parse_config.c, _parse_for_format: %c is the cluster's name.
        name = posixpath.join(posixpath.dirname(path), include[1].replace("%c", cluster))
        included = open_text(name) if depth < _MAX_DEPTH else None
        if included is None:
            findings.append(_unreadable(at, name))
        else:
            yield from _read(name, included, open_text, cluster, outer_line, depth + 1, findings)


def _not_sent(at: Position, name: str) -> Finding:
    message = (
        f"Include {name} has a path: configless slurmctld does not send the file, and slurmd in AWS does not start"
    )
    fix = "move the file beside slurm.conf and write its name without a path"
    return Finding("include-not-sent", message, (), fix).at(at.file, at.line, at.column)


def _unreadable(at: Position, name: str) -> Finding:
    message = f"{name} cannot be read, or includes itself"
    fix = "run the command where Slurm's files are, or copy all of them into one folder"
    return Finding("file-not-read", message, (), fix).at(at.file, at.line, at.column)


def _logical_lines(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yield the parts of each logical line, without comments and backslashes, each with its physical line's number."""
    parts: list[tuple[int, str]] = []
    for number, physical in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(?<!\\)((?:\\\\)*)#.*", r"\1", physical)
        stripped = line.rstrip()
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            parts.append((number, stripped[:-1]))
            continue
        yield [*parts, (number, line)]
        parts = []
    if parts:
        yield parts


def _entry(
    path: str, line: str, parts: list[tuple[int, str]], outer_line: int, findings: list[Finding]
) -> Iterator[ConfLine]:
    pairs, offset = [], 0
    while (match := _PAIR.match(line, offset)) is not None:
        value = match[3] if match[4] is None else match[4]
        value_start = match.start(3) if match[4] is None else match.start(4)
        at, value_at = _position(path, parts, match.start(1)), _position(path, parts, value_start)
        pairs.append(Pair(match[1] + match[2], value.replace("\\#", "#"), at, value_at))
        offset = match.end()
    if line[offset:].strip():
        at = _position(path, parts, offset + len(line[offset:]) - len(line[offset:].lstrip()))
        message = f'"{line[offset:].strip()}" is not KEY=VALUE'
        findings.append(Finding("not-a-setting", message, (), "correct the line").at(at.file, at.line, at.column))
    if pairs:
        yield ConfLine(tuple(pairs), outer_line)


def _position(path: str, parts: list[tuple[int, str]], offset: int) -> Position:
    for number, part in parts:
        if offset < len(part):
            return Position(path, number, offset + 1)
        offset -= len(part)
    return Position(path, parts[-1][0], len(parts[-1][1]) + 1)
