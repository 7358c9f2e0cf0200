"""Check of enumerations: the values that AWS allows for a string of the SDK, from botocore and a few lists."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import botocore.session
import pulumi

from sandbox.pulumi_provider.aws.facts import facts
from sandbox.pulumi_provider.checks.sdk_args import Path, Problem


def word_problems(token: str, bag: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every string in a resource's inputs that is not a value of AWS's enumeration."""
    for property_path, source in facts().words.get(token, {}).items():
        allowed = source if isinstance(source, tuple) else _enumeration(source)
        for path, value in _values(bag, tuple(property_path.replace("[]", ".[]").split(".")), ()):
            if isinstance(value, str) and value not in allowed:
                close = get_close_matches(value, allowed, 1)
                hint = f", did you mean {close[0]}?" if close else f" (one of {', '.join(allowed[:8])})"
                yield path, f"{value!r} is not a value that AWS allows here{hint}"


def _values(value: Any, property_path: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, pulumi.output.Unknown):
        return
    if not property_path:
        yield path, value
    elif property_path[0] == "[]":
        for index, item in enumerate(value if isinstance(value, list) else []):
            yield from _values(item, property_path[1:], (*path, index))
    elif isinstance(value, Mapping) and property_path[0] in value:
        yield from _values(value[property_path[0]], property_path[1:], (*path, property_path[0]))


@cache
def _enumeration(source: str) -> tuple[str, ...]:
    service, shape = source.split(".")
    return tuple(_model(service).shape_for(shape).enum)


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)
