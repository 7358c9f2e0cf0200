"""Check of lengths, ranges, patterns and counts, which AWS checks and the SDK does not, from botocore's model.

botocore itself checks only required members, minimum lengths and types.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as File
from typing import Any

import botocore.session
import pulumi

from landbridge import yaml_text
from landbridge.plan.aws_limits import tag_violations
from landbridge.policy.aws_refusals import texts
from sandbox.pulumi_provider.checks.property_combinations import combination_problems
from sandbox.pulumi_provider.checks.sdk_args import Path, Problem

Table = Mapping[str, Any]


@cache
def table() -> Table:
    """Return the content of value_ranges.yaml: requests, names and additions to the model (cached)."""
    content: Table = yaml_text.load(File(__file__).with_name("value_ranges.yaml").read_text())
    return content


def range_problems(token: str, bag: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every value in a resource's inputs that AWS refuses, whatever the other values are."""
    names = table()["names"].get(token, {})
    shapes = [_shape(request) for request in table()["requests"].get(token, ())]
    for key, value in bag.items():
        if key == "tags" and isinstance(value, Mapping):
            yield from _tags(value)
            continue
        for shape in shapes:
            member = _member(shape, names.get(key, key))
            if member is not None:
                yield from _by_shape(value, member, (key,))
                break
        rule = table()["own"].get(token, {}).get(key)
        if rule is not None:
            yield from _by_rule(value, rule, (key,))
    yield from combination_problems(token, bag)


def _by_shape(value: Any, shape: Any, path: Path) -> Iterator[Problem]:
    if value is None or isinstance(value, pulumi.output.Unknown):
        return
    if shape.type_name == "structure" and isinstance(value, Mapping):
        for key, item in value.items():
            member = _member(shape, key)
            if member is not None:
                yield from _by_shape(item, member, (*path, key))
    elif shape.type_name == "list" and isinstance(value, list):
        yield from _between(len(value), shape.metadata, path, "{} items")
        for index, item in enumerate(value):
            yield from _by_shape(item, shape.member, (*path, index))
    elif shape.type_name == "string" and isinstance(value, str):
        if shape.enum and value not in shape.enum:
            yield path, f"{value!r} is not a value that AWS allows here (one of {', '.join(shape.enum[:8])})"
        yield from _text(value, shape.metadata, path)
    elif shape.type_name in ("integer", "long", "float", "double") and isinstance(value, int | float):
        yield from _between(value, shape.metadata, path, "{}")


def _by_rule(value: Any, rule: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    if value is None or isinstance(value, pulumi.output.Unknown):
        return
    if "words" in rule and value not in rule["words"]:
        yield path, f"{value!r} is not one of {', '.join(map(str, rule['words']))}"
    elif isinstance(value, str):
        yield from _text(value, rule, path)
    elif isinstance(value, int | float):
        yield from _between(value, rule, path, "{}")


def _text(value: str, rule: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    yield from _between(len(value), rule, path, "{} characters")
    pattern = rule.get("pattern")
    if pattern is not None and not _pattern(pattern).fullmatch(value):
        yield path, f"{value[:60]!r} does not match {pattern}"


def _between(value: float, rule: Mapping[str, Any], path: Path, format_: str) -> Iterator[Problem]:
    for key, wrong, word in (
        ("min", value < rule.get("min", value), "least"),
        ("max", value > rule.get("max", value), "most"),
    ):
        if wrong:
            yield path, f"{format_.format(value)}, at {word} {rule[key]}"


def _tags(tags: Mapping[str, Any]) -> Iterator[Problem]:
    for fault in tag_violations(texts(tags)):
        yield ("tags", fault.key) if fault.key else ("tags",), fault.message


def _member(shape: Any, key: str) -> Any:
    """Return the request's member for an SDK name; services write names with or without a first capital letter."""
    return shape.members.get(key[:1].upper() + key[1:]) or shape.members.get(key)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    # The models have Java's patterns. Python has no character classes by property (\p{L}): those accept every value.
    try:
        return re.compile(pattern)
    except re.error:
        return re.compile(".*", re.DOTALL)


@cache
def _shape(request: str) -> Any:
    service, operation, *members = request.split(".")
    shape: Any = botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape
    for member in members:
        shape = shape.members[member]
        shape = shape.member if shape.type_name == "list" else shape
    return shape
