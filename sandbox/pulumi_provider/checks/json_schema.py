"""Check of a property's value against a JSON schema, with the keywords that CloudFormation and cfn-lint use.

Values that the SDK writes in another form than CloudFormation (a map of tags, a document as text, `"true"`) is not judged: what is a wrong type
is bags.py's to say. A value that is not known yet is right, and decides no condition.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pulumi

from sandbox.pulumi_provider.checks.sdk_args import Path, Problem

Schema = Mapping[str, Any]
Names = Mapping[str, str]


class Judge:
    """Judges values of one resource. `definitions` are the targets of a schema's references; `names` the names of properties there."""

    def __init__(self, definitions: Mapping[str, Any], names: Names) -> None:
        self._definitions, self._names = definitions, names

    def problems(self, value: Any, schema: Any, path: Path) -> Iterator[Problem]:
        """Yield the problems of a value. A schema of False permits no value."""
        schema = self.resolved(schema)
        if schema is False:
            yield path, "not together with what else is given"
        if value is None or isinstance(value, pulumi.output.Unknown) or not isinstance(schema, Mapping):
            return
        if isinstance(value, Mapping) and "items" in schema and "properties" not in schema:
            value = [value]  # the SDK has one object where there can only be one
        if isinstance(value, Mapping):
            yield from self._object(value, schema, path)
        elif isinstance(value, list):
            yield from _between(len(value), schema, ("minItems", "maxItems"), "items", path)
            for index, item in enumerate(value):
                yield from self.problems(item, schema.get("items", True), (*path, index))
        else:
            yield from _scalar(value, schema, path)
        yield from self._choices(value, schema, path)

    def resolved(self, schema: Any) -> Any:
        """The schema that a reference means."""
        while isinstance(schema, Mapping) and "$ref" in schema:
            schema = self._definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        return schema

    def find(self, value: Mapping[str, Any], name: str) -> str | None:
        """The property of a value that a schema calls `name`."""
        return next((key for key in value if _norm(self._names.get(key, key)) == _norm(name)), None)

    def _object(self, value: Mapping[str, Any], schema: Schema, path: Path) -> Iterator[Problem]:
        for name, inner in schema.get("properties", {}).items():
            key = self.find(value, name)
            if key is not None and value[key] is not None:
                yield from self.problems(value[key], inner, (*path, key))
        for name, others in schema.get("dependentExcluded", {}).items():
            key = self._given(value, name)
            for other in (self._given(value, one) for one in others) if key is not None else ():
                if other is not None and str(key) < other:
                    yield (*path, other), f"not beside {key}"
        for name, others in schema.get("dependentRequired", {}).items():
            key = self._given(value, name)
            for other in others if key is not None else ():
                if self.find(value, other) is None:
                    yield (*path, str(key)), f"needs {other}"

    def _choices(self, value: Any, schema: Schema, path: Path) -> Iterator[Problem]:
        for inner in schema.get("allOf", ()):
            yield from self.problems(value, inner, path)
        for word in ("anyOf", "oneOf"):
            # Which properties must be there is the SDK's to say, under its own names.
            choices = [one for one in schema.get(word, ()) if set(self.resolved(one)) - {"required", "type"}]
            found = [list(self.problems(value, choice, path)) for choice in choices]
            if found and len(choices) == len(schema[word]) and all(found):
                yield from min(found, key=len)
        if "not" in schema and isinstance(value, str) and not list(self.problems(value, schema["not"], path)):
            yield path, f"{value!r} may not be"
        if "if" in schema and self._holds(value, schema["if"]):
            yield from self.problems(value, schema.get("then", True), path)

    def _holds(self, value: Any, schema: Schema) -> bool:
        """Return True if a condition is known to hold."""
        if isinstance(value, Mapping):
            if any(self._given(value, name) is None for name in schema.get("required", ())):
                return False
            for name in schema.get("properties", {}):
                key = self.find(value, name)
                if key is not None and isinstance(value[key], pulumi.output.Unknown):
                    return False
        return not list(self.problems(value, schema, ()))

    def _given(self, value: Mapping[str, Any], name: str) -> str | None:
        key = self.find(value, name)
        return key if key is not None and value[key] is not None and value[key] != [] else None


def _scalar(value: Any, schema: Schema, path: Path) -> Iterator[Problem]:
    words = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if words is not None and value not in words and _text(value) not in map(_text, words):
        yield path, f"{value!r} is not one of {', '.join(map(str, words[:8]))}{', ...' * (len(words) > 8)}"
    if isinstance(value, str):
        yield from _between(len(value), schema, ("minLength", "maxLength"), "characters", path)
        pattern = schema.get("pattern")
        if pattern is not None and not _pattern(pattern)(value):
            yield path, f"{value[:60]!r} does not match {pattern}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _between(value, schema, ("minimum", "maximum"), "", path)


def _between(value: float, schema: Schema, keys: tuple[str, str], what: str, path: Path) -> Iterator[Problem]:
    least, most = schema.get(keys[0]), schema.get(keys[1])
    for bad, limit, word in (
        (least is not None and value < least, least, "least"),
        (most is not None and value > most, most, "most"),
    ):
        if bad:
            yield path, f"{value}{' ' * bool(what)}{what}, at {word} {limit}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _norm(name: str) -> str:
    return name.replace("_", "").lower()


@cache
def _pattern(pattern: str) -> Callable[[str], Any]:
    # The registry's patterns are ECMA's and Java's: a pattern that Python cannot read accepts every value.
    try:
        return re.compile(pattern).search
    except re.error:
        return lambda text: True
