"""Patterns in policies: wildcards, ARNs and policy variables."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

Context = Mapping[str, str | Sequence[str]]
_ARN_PARTS = 6
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_LITERALS = {"*": "*", "?": "?", "$": "$"}


class Unresolved(Exception):
    """Policy variable without a value in this request; a statement with it does not apply."""


def values_of(context: Context, key: str) -> tuple[str, ...] | None:
    """Return a key's values (names are case-insensitive); None if the request does not have the key."""
    for name, value in context.items():
        if name.lower() == key.lower():
            return (value,) if isinstance(value, str) else tuple(value)
    return None


def matches(pattern: str, text: str, context: Context, *, ignore_case: bool = False) -> bool:
    """Return whether a pattern with * (any characters) and ? (one) matches. Raises Unresolved for a variable without
    value."""
    return _compiled(expanded(pattern, context), ignore_case).fullmatch(text) is not None


def equals(pattern: str, text: str, context: Context, *, ignore_case: bool = False) -> bool:
    """Return whether the texts are equal, as `matches` does but with * and ? as ordinary characters."""
    literal = "".join(part for part, _ in expanded(pattern, context))
    return literal.lower() == text.lower() if ignore_case else literal == text


def arn_matches(pattern: str, arn: str, context: Context) -> bool:
    """Compare the six parts of two ARNs one by one: a wildcard does not match a colon between two parts."""
    if pattern == "*":
        return True
    pattern_parts, arn_parts = pattern.split(":", _ARN_PARTS - 1), arn.split(":", _ARN_PARTS - 1)
    if _VARIABLE.search(pattern):
        # A variable's name contains a colon, so such a pattern is compared as a whole.
        return matches(pattern, arn, context)
    return len(pattern_parts) == len(arn_parts) and all(
        map(lambda pattern_part, arn_part: matches(pattern_part, arn_part, context), pattern_parts, arn_parts)
    )


def expanded(pattern: str, context: Context) -> tuple[tuple[str, bool], ...]:
    """Return the pieces of the pattern, each with a flag whether its wildcards are active: not in a variable's value."""
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
