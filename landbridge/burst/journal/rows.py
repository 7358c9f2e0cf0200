"""A State as rows of text, by kind and key, and back; what a row cannot tell any more is left out. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from landbridge.burst.model import (
    Attempt,
    Backoff,
    BudgetHold,
    CircuitBreaker,
    DecisionRecord,
    InsufficientCapacity,
    SlurmOrder,
    State,
)

T = TypeVar("T")
RowTexts = dict[tuple[str, str], str]
_TABLES: Mapping[str, type] = {
    "attempts": Attempt,
    "insufficient_capacity": InsufficientCapacity,
    "breakers": CircuitBreaker,
    "holds": BudgetHold,
    "backoffs": Backoff,
}
_PLAIN = ("spent", "drained", "suspects")
_READ_KEY: Mapping[str, Callable[[str], Any]] = {"backoffs": int, "spent": lambda key: tuple(json.loads(key))}


def differences(before: State, after: State) -> tuple[RowTexts, list[tuple[str, str]]]:
    """Rows to write and rows to delete, so that a journal with `before` in it has `after`. Nothing else is touched."""
    write: RowTexts = {}
    delete: list[tuple[str, str]] = []
    for kind in (*_TABLES, *_PLAIN):
        old, new = getattr(before, kind), getattr(after, kind)
        if old is new:
            continue
        delete += [(kind, _key(key)) for key in old if key not in new]
        for key, value in new.items():
            if key not in old or old[key] != value:
                write[kind, _key(key)] = _text(value)
    if before.throttled_until != after.throttled_until:
        write["throttled_until", ""] = _text(after.throttled_until)
    return write, delete


class RowReader:
    """Reads rows, and remembers them: from one pass to the next most are the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, Any]] = {}

    def state(self, rows: RowTexts, orders: tuple[SlurmOrder, ...]) -> State:
        tables: dict[str, dict[Any, Any]] = {kind: {} for kind in (*_TABLES, *_PLAIN)}
        throttled = 0.0
        known: dict[tuple[str, str], tuple[str, Any]] = {}
        for (kind, key), text in rows.items():
            last = self._known.get((kind, key))
            try:
                value = last[1] if last and last[0] == text else _value(kind, text)
                if kind == "throttled_until":
                    throttled = float(value)
                elif kind in tables:
                    tables[kind][_READ_KEY.get(kind, str)(key)] = value
            except (TypeError, ValueError):
                continue  # written by another version: the next pass finds the same out from Slurm and EC2
            known[kind, key] = (text, value)
        self._known = known
        return State(orders=orders, throttled_until=throttled, **tables)


def record_fields(record: DecisionRecord) -> dict[str, Any]:
    """A decision record as plain data; what is empty is left out."""
    return {name: value for name, value in _fields(record).items() if value not in ("", (), None, {})}


def text_of(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(value, default=_plain)


def read_record(text: str) -> DecisionRecord | None:
    try:
        return _read(DecisionRecord, json.loads(text))
    except (TypeError, ValueError):
        return None


def _key(key: object) -> str:
    return json.dumps(key) if isinstance(key, tuple) else str(key)


def _text(value: Any) -> str:
    return text_of(_fields(value) if hasattr(value, "__dataclass_fields__") else value)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value)


def _value(kind: str, text: str) -> Any:
    raw = json.loads(text)
    return _read(_TABLES[kind], raw) if kind in _TABLES else raw


def _read(kind: type[T], raw: Any) -> T:
    if not isinstance(raw, dict):
        raise TypeError(kind.__name__)
    names = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if any(
        name not in raw
        for name, field in names.items()
        if field.default is MISSING and field.default_factory is MISSING
    ):
        raise TypeError(kind.__name__)
    return kind(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in raw.items() if name in names}
    )
