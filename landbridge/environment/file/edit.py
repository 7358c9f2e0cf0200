"""Replacement of single values in an environment file's text; comments and layout are unchanged."""

import json
import re
from collections.abc import Iterator
from typing import Any

from landbridge import yaml_text
from landbridge.environment.file.source import Source
from landbridge.findings import DataPath, Finding, FindingsError

_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")
_NUMBER = re.compile(r"[\w.+-]+")


def replaced(source: Source, line: str, start: int, old: Any, new: Any, path: DataPath) -> str:
    """Return the line with the value `old` at offset `start` replaced by `new`. Raises FindingsError (edit-value)."""
    tail = line[start:]
    quoted_text = _QUOTED.match(tail)
    if quoted_text:
        return line[:start] + quoted(str(new)) + tail[quoted_text.end() :]
    if isinstance(old, str) and tail.startswith(old):
        return line[:start] + plain(new) + tail[len(old) :]
    number = _NUMBER.match(tail)
    if number and not isinstance(old, str):
        return line[:start] + plain(new) + tail[number.end() :]
    message = "this value is written in a way that cannot be replaced"
    raise refused(source, "edit-value", message, path, "change it by hand")


def plain(value: Any) -> str:
    """Return a value as YAML, quoted only if necessary."""
    text = str(value)
    try:
        same = yaml_text.load(f"[{text}]") == [value]
    except yaml_text.BadYaml:
        same = False
    return text if same else quoted(text)


def quoted(text: str) -> str:
    """Return a text in quotes; unprintable characters are escaped, because YAML does not permit them."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def refused(source: Source, rule: str, message: str, path: DataPath, fix: str) -> FindingsError:
    """Return the error for a text that cannot be changed as requested, with its position."""
    return FindingsError([Finding(rule, message, path, fix).at(source.file, *source.locate(path))])


def scalars(data: Any, path: DataPath) -> Iterator[tuple[DataPath, Any]]:
    """Yield the path and value of each scalar below `path`."""
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from scalars(item, (*path, key))
    else:
        yield path, data
