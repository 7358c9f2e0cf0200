"""Patterns in policies: wildcards, ARNs and policy variables."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

Context = Mapping[str, str | Sequence[str]]
_ARN_PARTS = 6
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_LITERALS = {"*": "*", "?": "?", "$": "$"}


class Unresolved(Exception):
    """A policy variable has no value in this request; the statement that needs it does not apply."""


def values_of(context: Context, key: str) -> tuple[str, ...] | None:
    """Return a key's values, in whatever case its name is written; None where the request does not have it."""
    for name, value in context.items():
        if name.lower() == key.lower():
            return (value,) if isinstance(value, str) else tuple(value)
    return None


def matches(pattern: str, text: str, context: Context, *, ignore_case: bool = False) -> bool:
    """Match a pattern with * for any characters and ? for one. Raises Unresolved for a variable without a value."""
    return _compiled(expanded(pattern, context), ignore_case).fullmatch(text) is not None


def equals(pattern: str, text: str, context: Context, *, ignore_case: bool = False) -> bool:
    """Compare as `matches`, with * and ? as letters."""
    literal = "".join(part for part, _ in expanded(pattern, context))
    return literal.lower() == text.lower() if ignore_case else literal == text


def arn_matches(pattern: str, arn: str, context: Context) -> bool:
    """Compare the six parts of two ARNs one by one: a wildcard does not reach over a colon into the next part."""
    if pattern == "*":
        return True
    pattern_parts, arn_parts = pattern.split(":", _ARN_PARTS - 1), arn.split(":", _ARN_PARTS - 1)
    if _VARIABLE.search(pattern):
        # A variable's name holds a colon, so such a pattern is compared as a whole.
        return matches(pattern, arn, context)
    return len(pattern_parts) == len(arn_parts) and all(
        map(lambda a, b: matches(a, b, context), pattern_parts, arn_parts)
    )


def expanded(pattern: str, context: Context) -> tuple[tuple[str, bool], ...]:
    """Return the pattern in pieces, each with whether its wildcards count: they do not in the value of a variable."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for variable in _VARIABLE.finditer(pattern):
        pieces += [(pattern[end : variable.start()], True), (_value(variable[1], context), False)]
        end = variable.end()
    return (*pieces, (pattern[end:], True))


def _value(variable: str, context: Context) -> str:
    if variable in _LITERALS:
        return _LITERALS[variable]
    key, comma, default = variable.partition(",")
    context_values = values_of(context, key.strip())
    if context_values is not None and len(context_values) == 1:
        return context_values[0]
    if comma:
        return default.strip().strip("'")
    raise Unresolved(variable)


@lru_cache(maxsize=4096)
def _compiled(pieces: tuple[tuple[str, bool], ...], ignore_case: bool) -> re.Pattern[str]:
    text = "".join(
        re.escape(piece).replace(r"\*", ".*").replace(r"\?", ".") if wild else re.escape(piece)
        for piece, wild in pieces
    )
    return re.compile(text, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
