"""Enumerations: values that AWS allows where the SDK's type is a string. From botocore, and a few lists."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import botocore.session
import pulumi

from sandbox.pulumi_provider.aws.facts import facts
from sandbox.pulumi_provider.checks.sdk_args import Path, Problem


def word_problems(token: str, bag: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every string in a resource's inputs that AWS has no such word for."""
    for where, source in facts().words.get(token, {}).items():
        allowed = source if isinstance(source, tuple) else _enumeration(source)
        for path, value in _values(bag, tuple(where.replace("[]", ".[]").split(".")), ()):
            if isinstance(value, str) and value not in allowed:
                close = get_close_matches(value, allowed, 1)
                hint = f", did you mean {close[0]}?" if close else f" (one of {', '.join(allowed[:8])})"
                yield path, f"{value!r} is not a word that AWS knows here{hint}"


def _values(value: Any, where: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, pulumi.output.Unknown):
        return
    if not where:
        yield path, value
    elif where[0] == "[]":
        for index, item in enumerate(value if isinstance(value, list) else []):
            yield from _values(item, where[1:], (*path, index))
    elif isinstance(value, Mapping) and where[0] in value:
        yield from _values(value[where[0]], where[1:], (*path, where[0]))


@cache
def _enumeration(source: str) -> tuple[str, ...]:
    service, shape = source.split(".")
    return tuple(_model(service).shape_for(shape).enum)


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)
