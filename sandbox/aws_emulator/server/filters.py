"""EC2 filters and pages of answers that are plain data."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from sandbox.aws_emulator.server.errors import CloudError


def matching(
    items: Iterable[Mapping[str, Any]], filters: Iterable[Mapping[str, Any]], known: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """Return the items that pass every filter; `known` maps a filter's name to a key. An unknown filter is refused."""
    conditions = [(str(filter_["Name"]), [str(value) for value in filter_.get("Values", [])]) for filter_ in filters]
    for name, _ in conditions:
        if name not in known and not name.startswith("tag:"):
            raise CloudError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return [item for item in items if all(_passes(item, name, values, known) for name, values in conditions)]


def page(
    items: list[Any], request: Mapping[str, Any], key: str, most: int, default: int | None = None
) -> dict[str, Any]:
    """Return one page of an answer, at most `most` items, with the token of the next page."""
    start, size = int(request.get("NextToken") or 0), int(request.get("MaxResults") or default or most)
    if not 5 <= size <= most:
        raise CloudError("InvalidParameterValue", f"MaxResults must be between 5 and {most}.")
    next_token = {"NextToken": str(start + size)} if start + size < len(items) else {}
    return {key: items[start : start + size], **next_token}


def _passes(item: Mapping[str, Any], name: str, values: list[str], known: Mapping[str, str]) -> bool:
    if name.startswith("tag:"):
        actual = next((tag.get("Value", "") for tag in item.get("Tags") or [] if tag["Key"] == name[4:]), None)
    else:
        actual = item.get(known[name])
    return actual is not None and any(fnmatchcase(str(actual), value) for value in values)
