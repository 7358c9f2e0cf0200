"""Suppressions of an environment file that name an item of a list by its index: they follow the item.

The new text is parsed again and compared with the expected data: a file with an unsupported layout is rejected with a
hint for a manual change, and never partly changed.
"""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from landbridge.environment.file.edit import refused
from landbridge.environment.file.list_items import with_copy, without_item
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, Finding, FindingsError, Severity, path_text

SUPPRESS: DataPath = (*ROOT, "suppress")
#: New indices of each item of a list, by its former index: none if it left the list, several if it was divided.
Moves = Sequence[Sequence[int]]


def with_moved_suppressions(text: str, file: str, moves: Mapping[DataPath, Moves]) -> tuple[str, tuple[Finding, ...]]:
    """Return the text after changes of lists, with suppressions whose path has the new index, and a finding for each.

    A suppression of an item that left is removed, and one of an item that was divided is copied. `moves`: by path of
    the list. Raises FindingsError (edit-layout) for a suppression that cannot be changed automatically.
    """
    source = read(text, file)
    entries = _entries(source)
    findings, expected = list[Finding](), list[Any]()
    for index, entry in enumerate(entries):
        path = entry.get("path") if isinstance(entry, dict) else None
        paths = _moved(path, moves) if isinstance(path, str) else None
        expected += [entry] if paths is None else [{**entry, "path": new} for new in paths]
        if paths is not None:
            findings.append(_finding(source, index, entry, paths))
    for finding in reversed(findings):
        index = int(finding.path[-1])
        text = _changed(text, file, index, _moved(entries[index]["path"], moves) or [])
    data: Any = deepcopy(source.data)
    if findings:
        holder = data
        for part in SUPPRESS[:-1]:
            holder = holder[part]
        holder[SUPPRESS[-1]] = expected
    if read(text, file).data != data:
        raise _by_hand(source, findings[0].path)
    return text, tuple(findings)


def removed_suppressions(findings: Sequence[Finding]) -> tuple[DataPath, ...]:
    """Return the paths of the suppressions that these findings of moves say are removed."""
    return tuple(finding.path for finding in findings if finding.rule == "suppression-removed")


def _entries(source: Source) -> list[Any]:
    value: Any = source.data
    for part in SUPPRESS:
        value = value.get(part) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _moved(path: str, moves: Mapping[DataPath, Moves]) -> list[str] | None:
    """Return the paths of a suppression after the moves; None if it has none of the moved items."""
    for list_path, indices in moves.items():
        prefix = path_text(list_path[len(ROOT) :])
        match = re.fullmatch(rf"{re.escape(prefix)}\[(\d+)\]((?:[.\[].*)?)", path)
        if match and int(match[1]) < len(indices):
            paths = [f"{prefix}[{index}]{match[2]}" for index in indices[int(match[1])]]
            return None if paths == [path] else paths
    return None


def _finding(source: Source, index: int, entry: Mapping[str, Any], paths: Sequence[str]) -> Finding:
    named = f"the suppression of {entry.get('rule')} at {entry['path']}"
    place: DataPath = (*SUPPRESS, index)
    if paths:
        finding = Finding(
            "suppression-moved", f"{named} is now at {' and '.join(paths)}", place, severity=Severity.INFO
        )
    else:
        message = f"{named} is removed: its item leaves the file"
        finding = Finding("suppression-removed", message, place, severity=Severity.INFO)
    return finding.at(source.file, *source.locate(place))


def _changed(text: str, file: str, index: int, paths: Sequence[str]) -> str:
    """Return the text with these paths in place of one suppression's path, each in a suppression of its own."""
    item: DataPath = (*SUPPRESS, index)
    if not paths:
        return without_item(text, read(text, file), item)
    for new in reversed(paths):
        source = read(text, file)
        if new != paths[-1]:
            text = with_copy(text, source, item)
        text = _with_path(text, read(text, file), item, new)
    return text


def _with_path(text: str, source: Source, item: DataPath, new: str) -> str:
    """Return the text with another path of a suppression, in the quotes of the present one."""
    data: Any = source.data
    for part in item:
        data = data[part]
    place = source.places.get((*item, "path"))
    if place is None or place.key is None:
        raise _by_hand(source, item)
    lines = text.splitlines(keepends=True)
    line, column = place.value
    row = lines[line - 1]
    start = column - 1 + (row[column - 1] in "\"'")
    if not row.startswith(data["path"], start):
        raise _by_hand(source, item)
    lines[line - 1] = row[:start] + new + row[start + len(data["path"]) :]
    return "".join(lines)


def _by_hand(source: Source, path: DataPath) -> FindingsError:
    message = "this suppression names an item by its index, and is written in a way that cannot be changed here"
    return refused(source, "edit-layout", message, path, "change the file by hand; nothing has been written")
