"""Printer of findings with their source lines, in the style of a compiler."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from landbridge.findings import Finding, Severity

_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "33", Severity.INFO: "36"}
_DIM, _GREEN = "2", "32"
_WIDTH = 100


def print_with_lines(findings: Iterable[Finding], path: Path | None) -> None:
    """Print findings on standard error, each with its source line and a mark under its column; colours on a terminal.

    Without source lines if `path` is None or unreadable.
    """
    lines = _lines(path)
    coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    for finding in findings:
        print("\n".join(_block(finding, lines, coloured)), file=sys.stderr)


def _block(finding: Finding, lines: Sequence[str], coloured: bool) -> list[str]:
    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if coloured else text

    colour = _COLOURS[finding.severity]
    position = ":".join(str(part) for part in (_short(finding.file), finding.line, finding.column) if part is not None)
    severity = paint(finding.severity.value, colour)
    block = [f"{position + ': ' if position else ''}{severity}: {finding.message} {paint(f'[{finding.rule}]', _DIM)}"]
    if finding.line is not None and 0 < finding.line <= len(lines):
        text, column = _window(lines[finding.line - 1], (finding.column or 1) - 1)
        number = f"{finding.line:>5} | "
        block.append(f"{paint(number, _DIM)}{text}")
        block.append(f"{paint(' ' * (len(number) - 2) + '| ', _DIM)}{' ' * column}{paint('^', colour)}")
    if finding.fix:
        block.append(f"    {paint(finding.fix, _GREEN)}")
    return block


def _window(line: str, column: int) -> tuple[str, int]:
    """Return the part of a line around a column, with unprintable characters replaced by spaces."""
    plain = "".join(char if char.isprintable() else " " for char in line)
    if len(plain) <= _WIDTH:
        return plain, min(column, len(plain))
    start = max(0, min(column - _WIDTH // 2, len(plain) - _WIDTH))
    return plain[start : start + _WIDTH], column - start


def _lines(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:
        return []


def _short(file: str | None) -> str | None:
    """Return a path relative to the current folder if it is inside it."""
    if file is None:
        return None
    path, folder = Path(file), Path.cwd()
    return str(path.relative_to(folder)) if path.is_absolute() and path.is_relative_to(folder) else file
