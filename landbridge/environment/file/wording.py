"""Messages for values of the wrong type or format, with terms of the environment file."""

import json
import re
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from typing import Any

from pydantic_core import ErrorDetails

from landbridge.environment.file.forms import in_words
from landbridge.environment.file.shape import choices_at, value_at
from landbridge.environment.model import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, path_text

_TYPES = {
    "string": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "model": "a mapping",
    "dict": "a mapping", "mapping": "a mapping", "tuple": "a list", "list": "a list", "datetime": "a date and time",
    "none_required": "nothing",
}  # fmt: skip


def shape_finding(work: Any, path: DataPath, original: DataPath, errors: list[ErrorDetails]) -> Finding:
    """Return the finding for pydantic's errors about the value at `path` of `work`; `original` is its path in the
    file.
    """
    error = errors[0]
    kind, context = error["type"], error.get("ctx", {})
    name = path_text(original) or "the environment"
    shown_value = _shown(error["input"])
    types = sorted({_TYPES[base] for e in errors if (base := _base_type(e["type"])) in _TYPES})
    if kind == "missing":
        return Finding("missing-key", f"{name} is missing", original, "add it; it has no default")
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _wrong_choice(work, (*path, "kind"), (*original, "kind"), name)
    if kind == "literal_error":
        return _wrong_choice(work, path, original, name, str(context.get("expected", "")))
    if "fix" in context:
        return Finding(kind, f"{name}: {error['msg']}", original, str(context["fix"]))
    if types:
        message = f"{name} must be {' or '.join(types)}, not {shown_value}"
        return Finding("wrong-type", message, original, _other_type(types, error["input"]))
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"):
        return Finding("out-of-range", f"{name} is {shown_value}; {_bound(error)}", original)
    if kind in ("too_short", "too_long"):
        least = kind == "too_short"
        bound = f"at least {context['min_length']}" if least else f"at most {context['max_length']}"
        return Finding("out-of-range", f"{name} has {context['actual_length']} items; {bound} needed", original)
    if kind in ("string_too_short", "string_too_long"):
        return Finding("out-of-range", f"{name}: {_plain(error['msg'])}", original)
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern"))
        expected_form = in_words(pattern)
        message = f"{name}: {shown_value} is not {expected_form or f'of the form {pattern}'}"
        return Finding("wrong-format", message, original)
    if "/" in str(error["input"]) and (around := _network_around(str(error["input"]))):
        message = f"{name}: {shown_value} is an address inside a range, not the range itself"
        return Finding("wrong-format", message, original, f"the range is {around}")
    if isinstance(context.get("error"), (AddressValueError, NetmaskValueError)):
        return Finding(
            "wrong-format", f"{name}: {shown_value} is not an IPv4 address or range", original, str(context["error"])
        )
    return Finding("wrong-format", f"{name}: {_plain(error['msg'])}", original)


def _base_type(kind: str) -> str:
    return kind.removesuffix("_type").removesuffix("_parsing").removesuffix("_from_float")


def _other_type(types: list[str], value: object) -> str | None:
    """Return the correct spelling of a value of the wrong type; None if it cannot be guessed."""
    if "text" in types and _is_plain(value):
        return f'write it in quotes: "{value}"'
    if not isinstance(value, str):
        return None
    if "true or false" in types and value.casefold() in ("yes", "no", "on", "off", "true", "false"):
        return f"write {'true' if value.casefold() in ('yes', 'on', 'true') else 'false'}"
    number = any(word in types for word in ("a number", "a whole number"))
    return f"write it without quotes: {value}" if number and re.fullmatch(r"-?\d+(\.\d+)?", value) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _wrong_choice(work: Any, path: DataPath, original: DataPath, name: str, expected: str = "") -> Finding:
    choices = choices_at(Environment, work, path)
    parent, last = path[:-1], path[-1]
    holder = value_at(work, parent)
    present = not isinstance(holder, dict) or last in holder
    possible = f"one of {', '.join(choices)}" if choices else expected
    if not present:
        return Finding("missing-key", f"{path_text(original)} is missing", original, f"choose {possible}")
    value = value_at(work, path)
    near = did_you_mean(str(value), choices)
    fix = f'did you mean "{near}"?' if near else None
    if _is_plain(value) and str(value) in choices:
        return Finding("wrong-type", f"{name} must be text, not {value}", original, f'write it in quotes: "{value}"')
    return Finding("unknown-value", f"{name}: {_shown(value)} is not {possible}", original, fix)


def _bound(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    bounds = [f"{word} {context[key]} is possible" for key, word in words.items() if key in context]
    return bounds[0] if bounds else "a finite number is needed"


def _network_around(text: str) -> str | None:
    """Return the network of an address with a prefix length; None if the text is invalid otherwise."""
    try:
        return str(IPv4Network(text, strict=False))
    except ValueError:
        return None


def _plain(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
