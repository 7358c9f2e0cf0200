"""Replacement of whole sections in an environment file's text; other lines and their comments are unchanged."""

from collections.abc import Iterable

from landbridge.environment.file.source import read
from landbridge.findings import DataPath


def replace_section(text: str, path: DataPath, lines: Iterable[str] | None) -> str:
    """Return the text with the section at `path` replaced by `lines`, which are indented like its key; None removes it,
    with the comments directly above. A section that is not in the text is left out.

    The section must begin on a line of its own, as in block style.
    """
    place = read(text, "").places.get(path)
    if place is None or place.key is None:
        return text
    all_lines = text.splitlines(keepends=True)
    first, indent = place.key[0] - 1, place.key[1] - 1
    end = first + 1
    while end < len(all_lines) and _inside(all_lines[end], indent):
        end += 1
    # Blank lines before the next section belong to it.
    while end > first + 1 and not all_lines[end - 1].strip():
        end -= 1
    if lines is None:
        while first and all_lines[first - 1].strip().startswith("#") and _indent(all_lines[first - 1]) == indent:
            first -= 1
        new: list[str] = []
    else:
        new = [f"{' ' * indent}{line}\n" for line in lines]
    return "".join([*all_lines[:first], *new, *all_lines[end:]])


def _inside(line: str, indent: int) -> bool:
    return not line.strip() or _indent(line) > indent


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
