"""Check of a property's value against a JSON schema, with the keywords that CloudFormation and cfn-lint use.

Values that the SDK writes in another form than CloudFormation (a map of tags, a document as text, `"true"`) are not
checked: types are checked by sdk_args.py. An unknown value is valid, and no condition holds for it.
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
    """Checker of the values of a resource.

    `definitions`: targets of a schema's references; `names`: property names in the schema.
    """

    def __init__(self, definitions: Mapping[str, Any], names: Names) -> None:
        self._definitions, self._names = definitions, names

    def problems(self, value: Any, schema: Any, path: Path) -> Iterator[Problem]:
        """Yield the problems of a value. A schema of False permits no value."""
        schema = self.resolved(schema)
        if schema is False:
            yield path, "not together with the other properties"
        if value is None or isinstance(value, pulumi.output.Unknown) or not isinstance(schema, Mapping):
            return
        if isinstance(value, Mapping) and "items" in schema and "properties" not in schema:
            value = [value]  # for a list with at most one item, the SDK has the object itself
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
        """Return the schema, with a reference resolved."""
        while isinstance(schema, Mapping) and "$ref" in schema:
            schema = self._definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        return schema

    def find(self, value: Mapping[str, Any], name: str) -> str | None:
        """Return the key in `value` of the schema's property `name`, or None."""
        return next((key for key in value if _norm(self._names.get(key, key)) == _norm(name)), None)

    def _object(self, value: Mapping[str, Any], schema: Schema, path: Path) -> Iterator[Problem]:
        for name, inner in schema.get("properties", {}).items():
            key = self.find(value, name)
            if key is not None and value[key] is not None:
                yield from self.problems(value[key], inner, (*path, key))
        for name, others in schema.get("dependentExcluded", {}).items():
            key = self._given(value, name)
            for other in (self._given(value, excluded) for excluded in others) if key is not None else ():
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
            # Required properties are checked by the SDK's types, with the SDK's names.
            choices = [choice for choice in schema.get(word, ()) if set(self.resolved(choice)) - {"required", "type"}]
            problems = [list(self.problems(value, choice, path)) for choice in choices]
            if problems and len(choices) == len(schema[word]) and all(problems):
                yield from min(problems, key=len)
        if "not" in schema and isinstance(value, str) and not list(self.problems(value, schema["not"], path)):
            yield path, f"{value!r} is not allowed"
        if "if" in schema and self._holds(value, schema["if"]):
            yield from self.problems(value, schema.get("then", True), path)

    def _holds(self, value: Any, schema: Schema) -> bool:
        """Return whether a condition certainly holds."""
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


def _between(value: float, schema: Schema, keys: tuple[str, str], unit: str, path: Path) -> Iterator[Problem]:
    least, most = schema.get(keys[0]), schema.get(keys[1])
    for bad, limit, word in (
        (least is not None and value < least, least, "least"),
        (most is not None and value > most, most, "most"),
    ):
        if bad:
            yield path, f"{value}{' ' * bool(unit)}{unit}, at {word} {limit}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _norm(name: str) -> str:
    return name.replace("_", "").lower()


@cache
def _pattern(pattern: str) -> Callable[[str], Any]:
    # The registry has ECMA and Java patterns: a pattern that Python cannot compile accepts every value.
    try:
        return re.compile(pattern).search
    except re.error:
        return lambda text: True
