"""Expanded environment file: every default is written out, and it loads to the same environment."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from landbridge.environment.file.load import KEY, Loaded
from landbridge.environment.model import Environment

# Text that YAML 1.1 and 1.2 read as a string without quotes.
_PLAIN = re.compile(r"[A-Za-z~/][A-Za-z0-9_./@~%+-]*(:[A-Za-z0-9_./-]+)*|\d+\.\d+\.\d+\.\d+(/\d+)?")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf", "~"})
# Characters that YAML forbids unescaped or reads as a line break.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_CHARACTERS = 100


def expanded(loaded: Loaded) -> str:
    """Return the whole file with every default, each marked with its description.

    The other keys (region, encrypted keys) are kept. Raises ValueError for a file with errors.
    """
    if loaded.environment is None:
        raise ValueError(f"{loaded.path} has errors")
    document: dict[str, Any] = dict(loaded.source.data)
    document["config"] = {**document["config"], KEY: loaded.environment}
    return "".join(f"{line}\n" for line in _mapping(document, "", inherited=False))


def _mapping(data: Mapping[str, Any] | BaseModel, indent: str, *, inherited: bool) -> Iterator[str]:
    """Yield the lines of a mapping; `inherited`: the whole section is a default and has no key in the file."""
    for key, value, default, why in _items(data, inherited=inherited):
        comment = f"  # default{f': {why}' if why else ''}" if default and not isinstance(value, BaseModel) else ""
        flow = _flow(value)
        is_scalar = not isinstance(value, (Mapping, BaseModel, tuple, list))
        if flow is not None and (is_scalar or len(flow) <= _LINE_CHARACTERS):
            yield f"{indent}{_scalar(key)}: {flow}{comment}"
            continue
        yield f"{indent}{_scalar(key)}:{comment}"
        if isinstance(value, (tuple, list)):
            yield from _sequence(value, indent + "  ", inherited=default)
        else:
            yield from _mapping(value, indent + "  ", inherited=default)


def _sequence(items: tuple[Any, ...] | list[Any], indent: str, *, inherited: bool) -> Iterator[str]:
    for item in items:
        flow = _flow(item)
        if flow is not None:
            yield f"{indent}- {flow}"
        elif isinstance(item, (tuple, list)):
            yield f"{indent}-"
            yield from _sequence(item, indent + "  ", inherited=inherited)
        else:
            lines = _mapping(item, indent + "  ", inherited=inherited)
            yield f"{indent}- {next(lines).lstrip()}"
            yield from lines


def _items(data: Mapping[str, Any] | BaseModel, *, inherited: bool) -> Iterator[tuple[str, Any, bool, str | None]]:
    """Yield key, value, whether it is a default, and the field's description."""
    if isinstance(data, BaseModel):
        for name, field in type(data).model_fields.items():
            # The name comes from the file name, and the region is a separate key. A kind is never a default.
            if not (isinstance(data, Environment) and name in ("name", "region")):
                default = name != "kind" and (inherited or name not in data.model_fields_set)
                yield name, getattr(data, name), default, field.description
    else:
        for key, value in data.items():
            yield key, value, inherited, None


def _flow(value: Any) -> str | None:
    """Return the text of a value that fits on its key's line: a scalar, or a list or mapping of scalars."""
    if isinstance(value, BaseModel) or (isinstance(value, Mapping) and len(value) > 1):
        return None
    if isinstance(value, Mapping):
        pairs = [(_scalar(key), _flow(item)) for key, item in value.items()]
        return None if any(item is None for _, item in pairs) else f"{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
    if isinstance(value, (tuple, list)):
        items = [_flow(item) for item in value]
        return None if any(item is None for item in items) else f"[{', '.join(str(item) for item in items)}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    # A JSON string is a double-quoted YAML string.
    return (
        text
        if plain
        else _UNPRINTABLE.sub(lambda scalar: f"\\u{ord(scalar[0]):04x}", json.dumps(text, ensure_ascii=False))
    )
