"""A resource as policies see it: its type and its inputs, under the names that they have on the wire."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource. What only AWS will know is None in `props`; `defaults` are tags and region of its provider.

    `protect` is None where whoever asks cannot know it. `id` links resources to one another where it is known.
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
        """Its own tags over those of its provider."""
        return {**as_map(as_map(self.defaults.get("defaultTags")).get("tags")), **as_map(self.props.get("tags"))}


def as_map(value: Any) -> Mapping[str, Any]:
    """A mapping, or an empty one where it is missing, unknown, or JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """A list: one thing alone is a list of it, nothing is an empty one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def maps(value: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings of a list."""
    return (item for item in as_list(value) if isinstance(item, Mapping))


def on(value: Any) -> bool:
    """Return true for a switch that is on: the provider takes `true` and `"true"`."""
    return value is True or str(value).lower() == "true"


def statements(text: Any) -> Iterator[Mapping[str, Any]]:
    """The statements of a policy document, as JSON or opened; none where it is not known yet."""
    return maps(as_map(text).get("Statement"))
