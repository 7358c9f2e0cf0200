"""Resource that policies check: its type and its inputs, under the names of Pulumi's AWS provider."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource. Values that only AWS knows are None in `props`; `defaults` are tags and region of its provider.

    `protect` is None if it is not known. `id`, if known, is the id by which other resources refer to it.
    """

    type: str
    name: str
    props: Mapping[str, Any]
    urn: str = ""
    id: str | None = None
    protect: bool | None = None
    retained: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tags(self) -> Mapping[str, Any]:
        """Return the tags of its provider, overridden by its own."""
        return {**as_map(as_map(self.defaults.get("defaultTags")).get("tags")), **as_map(self.props.get("tags"))}


def as_map(value: Any) -> Mapping[str, Any]:
    """Return a mapping, parsed from JSON if it is text; empty if it is missing, unknown or not a mapping."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list: a single value becomes a list of one, None an empty list."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def maps(value: Any) -> Iterator[Mapping[str, Any]]:
    """Return the mappings in a list."""
    return (item for item in as_list(value) if isinstance(item, Mapping))


def on(value: Any) -> bool:
    """Return true for a setting that is on: the provider accepts `true` and `"true"`."""
    return value is True or str(value).lower() == "true"


def statements(text: Any) -> Iterator[Mapping[str, Any]]:
    """Return the statements of a policy document, JSON text or a mapping; empty if it is not known yet."""
    return maps(as_map(text).get("Statement"))
