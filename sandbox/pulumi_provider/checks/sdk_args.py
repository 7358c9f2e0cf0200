"""Check of property bags against the SDK's Args classes: names, types and required properties.

The SDK itself accepts most mistakes (a misspelt key in a dict, a string for a number); the real AWS provider does not.
Private parts of the SDK are used here, and only here: `_types` and the table of resource modules.
"""

import collections.abc as abc
import functools
import importlib
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import pulumi
import pulumi_aws
from pulumi import _types
from pulumi.runtime import rpc

Path = tuple[str | int, ...]
Problem = tuple[Path, str]
PROVIDER = "pulumi:providers:aws"


@functools.cache
def args_class(token: str) -> type | None:
    """Return the SDK's Args class of a resource type, or None for a type that the SDK does not have."""
    if token == PROVIDER:
        return pulumi_aws.ProviderArgs
    package, module, _ = token.split(":")
    known: Any
    for known in rpc._RESOURCE_MODULES.get(f"{package}:{module}", []):
        name = known.mod_info["classes"].get(token)
        if name:
            resource = getattr(importlib.import_module(known.mod_info["fqn"]), name)
            home = importlib.import_module(resource.__module__)
            # If a nested type has the plain name, the resource's class is called InitArgs.
            return getattr(home, f"{name}InitArgs", None) or getattr(home, f"{name}Args", None)
    return None


@functools.cache
def fields(cls: type) -> Mapping[str, tuple[Any, bool]]:
    """Return each property's type, and whether it is required, by its name on the wire."""
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    kinds = _types.input_type_types(cls)
    fields = {}
    for python, wire in _types.input_type_py_to_pulumi_names(cls).items():
        required = python in parameters and parameters[python].default is inspect.Parameter.empty
        fields[wire] = (kinds.get(wire, Any), required)
    return fields


def problems(token: str, bag: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of a resource's inputs."""
    cls = args_class(token)
    if cls is None:
        yield (), f"unknown resource type {token}"
    else:
        yield from _object(bag, cls, ())


def spell(path: Path) -> str:
    """Write a path as Pulumi does: `networkInterfaces[3].interfaceType`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _object(bag: Mapping[str, Any], cls: type, path: Path) -> Iterator[Problem]:
    known = fields(cls)
    for key in bag:
        if key not in known and not key.startswith("__"):
            close = get_close_matches(key, known, 1)
            yield (*path, key), "unknown property" + (f", did you mean {close[0]}?" if close else "")
    for key, (kind, required) in known.items():
        if bag.get(key) is not None:
            yield from _value(bag[key], kind, (*path, key))
        elif required:
            yield (*path, key), "missing required property"


def _value(value: Any, kind: Any, path: Path) -> Iterator[Problem]:
    choices = alternatives(kind)
    if value is None or isinstance(value, pulumi.output.Unknown) or not choices or Any in choices:
        return
    problems_of_choices = []
    for choice in choices:
        choice_problems = list(_exactly(value, choice, path))
        if not choice_problems:
            return
        problems_of_choices.append(choice_problems)
    # Report the alternative that matched to the deepest level: it is most probably the intended one.
    yield from max(
        problems_of_choices, key=lambda choice_problems: max(len(problem_path) for problem_path, _ in choice_problems)
    )


def alternatives(kind: Any) -> list[Any]:
    """Remove Input, Optional and Union from a type; return the plain types."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return [plain for part in typing.get_args(kind) for plain in alternatives(part)]
    if origin in (abc.Awaitable, pulumi.Output) or kind is type(None) or typing.is_typeddict(kind):
        return []
    return [] if isinstance(kind, (str, typing.ForwardRef)) else [kind]


def _exactly(value: Any, kind: Any, path: Path) -> Iterator[Problem]:
    origin = typing.get_origin(kind)
    if isinstance(kind, type) and _types.is_input_type(kind):
        if isinstance(value, dict):
            yield from _object(value, kind, path)
        else:
            yield path, f"expected an object, got {value!r}"
    elif origin in (abc.Sequence, list):
        if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                yield from _value(item, typing.get_args(kind)[0], (*path, index))
        else:
            yield path, f"expected a list, got {value!r}"
    elif origin in (abc.Mapping, dict):
        if isinstance(value, dict):
            for key, item in value.items():
                yield from _value(item, typing.get_args(kind)[1], (*path, key))
        else:
            yield path, f"expected a map, got {value!r}"
    else:
        yield from _scalar(value, kind, path)


def _scalar(value: Any, kind: Any, path: Path) -> Iterator[Problem]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    wrong = (
        (kind is bool and not isinstance(value, bool))
        or (kind is int and not (number and value == int(value)))
        or (kind is float and not number)
        or (kind is str and not isinstance(value, str))
    )
    if wrong:
        yield path, f"expected {kind.__name__}, got {value!r}"
