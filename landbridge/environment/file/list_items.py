"""Items of lists in an environment file's text: removal and copies, in block and flow style; other text stays."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent

from landbridge.environment.file.source import Source
from landbridge.findings import DataPath
from landbridge.yaml_text import PARSER

_DASH = re.compile(r"[ \t]*-[ \t]+")
#: Comma after an item; the space before a comment stays.
_COMMA = re.compile(r"[ \t]*,(?:[ \t]+(?![ \t#]))?")
#: Rest of a line without a value.
_COMMENT = re.compile(r"[ \t]*(#.*)?\r?\n")
_KEY = re.compile(r"""(?:"[^"]*"|'[^']*'|[\w.-]+)[ \t]*:(?:[ \t]+&\S+)?""")


def without_item(text: str, source: Source, path: DataPath) -> str:
    """Return the text without one item of a list."""
    starts, ends = _starts(text), _ends(text)
    line, column = source.places[path].value
    start = starts[line - 1] + column - 1
    before = text[starts[line - 1] : start]
    if _DASH.fullmatch(before):
        text = text[: starts[line - 1]] + text[starts[_last_line(source, ends, path)] :]
        return text if len(at_path(source.data, path[:-1])) > 1 else _with_empty_list(text, source, path[:-1], starts)
    end_line, end_column = ends.get((line, column), (line, column))
    end = starts[end_line - 1] + end_column - 1
    comma = _COMMA.match(text, end)
    end = comma.end() if comma else end
    rest = _COMMENT.match(text, end)
    has_own_lines = not before.strip() and rest is not None
    if has_own_lines:
        start, end = starts[line - 1], starts[end_line]
    # A comma before a comment stays: YAML permits one after the last item.
    previous = None if comma else re.search(r",\s*\Z", text[:start])
    if previous is None:
        return text[:start] + text[end:]
    between = text[previous.start() + 1 : start] if has_own_lines else ""
    return text[: previous.start()] + between + text[end:]


def with_copy(text: str, source: Source, path: DataPath) -> str:
    """Return the text with a copy of one item of a list behind it."""
    starts, ends = _starts(text), _ends(text)
    line, column = source.places[path].value
    start = starts[line - 1] + column - 1
    if _DASH.fullmatch(text[starts[line - 1] : start]):
        end = starts[_last_line(source, ends, path)]
        item = text[starts[line - 1] : end]
        return text[:end] + ("" if item.endswith("\n") else "\n") + item + text[end:]
    end_line, end_column = ends.get((line, column), (line, column))
    end = starts[end_line - 1] + end_column - 1
    return f"{text[:end]}, {text[start:end]}{text[end:]}"


def _starts(text: str) -> list[int]:
    """Return the offset of each line, and the offset of the end."""
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    return starts


def _last_line(source: Source, ends: Mapping[tuple[int, int], tuple[int, int]], path: DataPath) -> int:
    """Return the last line of a value, from 1."""
    inside = [place.value for other, place in source.places.items() if other[: len(path)] == path]
    # A text of several lines in block style (`>-`) ends before the first column of the next line.
    return max(line - (column == 1) for line, column in (ends.get(place, place) for place in inside))


def _with_empty_list(text: str, source: Source, path: DataPath, starts: Sequence[int]) -> str:
    """Return the text with `[]` after the key of a list whose last item was removed."""
    line, column = source.places[path].key or source.places[path].value
    key = _KEY.match(text, starts[line - 1] + column - 1)
    return text if key is None else f"{text[: key.end()]} []{text[key.end() :]}"


def _ends(text: str) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the end of each scalar and flow collection by its start, both as line and column."""
    parser, opened = PARSER(text), list[tuple[int, int] | None]()
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    while (event := parser.get_event()) is not None:
        start, end = ((mark.line + 1, mark.column + 1) for mark in (event.start_mark, event.end_mark))
        if isinstance(event, CollectionStartEvent):
            opened.append(start if event.flow_style else None)
        elif isinstance(event, CollectionEndEvent):
            if (first := opened.pop()) is not None:
                ends[first] = end
        elif isinstance(event, NodeEvent):
            ends[start] = end
    return ends


def at_path(data: Any, path: DataPath) -> Any:
    """Return the value at a path of plain data."""
    for part in path:
        data = data[part]
    return data
