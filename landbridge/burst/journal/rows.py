"""Conversion of State to rows of text, by kind and key, and back; an unreadable row is omitted. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, TypeVar

from landbridge.burst.model import (
    Attempt,
    Backoff,
    BudgetHold,
    CircuitBreaker,
    DecisionRecord,
    HostClock,
    InstanceStatus,
    InsufficientCapacity,
    NodeKeep,
    Observation,
    ObservationKind,
    RegistrationFailure,
    SlurmOrder,
    State,
    StatusRead,
    TerminationRefusal,
    TrainingJob,
)

T = TypeVar("T")
RowTexts = dict[tuple[str, str], str]
_TABLES: Mapping[str, type] = {
    "attempts": Attempt,
    "insufficient_capacity": InsufficientCapacity,
    "breakers": CircuitBreaker,
    "holds": BudgetHold,
    "backoffs": Backoff,
    "registration_failures": RegistrationFailure,
    "termination_refusals": TerminationRefusal,
    "instance_statuses": InstanceStatus,
    "status_reads": StatusRead,
    "keeps": NodeKeep,
    "training_jobs": TrainingJob,
}
_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "spent": float,
    "drained": str,
    "terminated_at": float,
    "charged_until": float,
    "node_addresses": str,
    "topology_read": str,
    "keeps_in_slurm": float,
    "first_seen": float,
    "min_nodes_requested_at": float,
    "throttled_until": float,
}
#: Fields of the state that are one row each, with an empty key.
_SINGLE: Mapping[str, Callable[[Any], Any]] = {
    "last_observation_at": lambda value: None if value is None else float(value),
    "clock": lambda value: None if value is None else _read(HostClock, value),
}


def _read_observation(key: str) -> Observation:
    kind, subject = json.loads(key)
    return Observation(ObservationKind(kind), str(subject))


_READ_KEY: Mapping[str, Callable[[str], Any]] = {
    "backoffs": int,
    "spent": lambda key: tuple(json.loads(key)),
    "first_seen": _read_observation,
}


def differences(before: State, after: State) -> tuple[RowTexts, list[tuple[str, str]]]:
    """Return the rows to write and to delete to change a journal from `before` to `after`. Other rows stay."""
    write: RowTexts = {}
    delete: list[tuple[str, str]] = []
    for kind in (*_TABLES, *_SCALARS):
        old, new = getattr(before, kind), getattr(after, kind)
        if old is new:
            continue
        delete += [(kind, _key(key)) for key in old if key not in new]
        for key, value in new.items():
            if key not in old or old[key] != value:
                write[kind, _key(key)] = _text(value)
    for kind in _SINGLE:
        if getattr(before, kind) != getattr(after, kind):
            write[kind, ""] = _text(getattr(after, kind))
    return write, delete


class RowReader:
    """Reader of rows with a cache: most rows are the same from one pass to the next."""

    def __init__(self) -> None:
        self._cache: dict[tuple[str, str], tuple[str, Any]] = {}

    def state(self, rows: RowTexts, orders: tuple[SlurmOrder, ...]) -> State:
        tables: dict[str, Any] = {kind: {} for kind in (*_TABLES, *_SCALARS)}
        single: dict[str, Any] = {}
        rows_by_key: dict[tuple[str, str], tuple[str, Any]] = {}
        for (kind, key), text in rows.items():
            last = self._cache.get((kind, key))
            try:
                value = last[1] if last and last[0] == text else _value(kind, text)
                if kind in _SINGLE:
                    single[kind] = value
                elif kind in tables:
                    tables[kind][_READ_KEY.get(kind, str)(key)] = value
            except (TypeError, ValueError):
                continue  # of another version, or damaged: the next pass derives the same from Slurm and EC2
            rows_by_key[kind, key] = (text, value)
        self._cache = rows_by_key
        return State(orders=orders, **single, **tables)


def record_fields(record: DecisionRecord) -> dict[str, Any]:
    """Return a decision record as plain data without empty fields."""
    return {name: value for name, value in _fields(record).items() if value not in ("", (), None, {})}


def text_of(value: Any) -> str:
    """Return the value as one line of JSON."""
    return json.dumps(value, default=_plain)


def read_record(text: str) -> DecisionRecord | None:
    try:
        return _read(DecisionRecord, json.loads(text))
    except (TypeError, ValueError):
        return None


def _key(key: object) -> str:
    if isinstance(key, Observation):
        return json.dumps([key.kind, key.subject])
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
    if kind in _TABLES:
        return _read(_TABLES[kind], raw)
    return {**_SCALARS, **_SINGLE}[kind](raw) if kind in _SCALARS or kind in _SINGLE else raw


def _read(kind: type[T], raw: Any) -> T:
    if not isinstance(raw, dict):
        raise TypeError(kind.__name__)
    names, required = _field_names(kind)  # type: ignore[arg-type]
    if not required <= raw.keys():
        raise TypeError(kind.__name__)
    return kind(**{name: _tuples(value) for name, value in raw.items() if name in names})


@cache
def _field_names(kind: type[Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of a data class's fields, and of those without a default."""
    required = (f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)
    return frozenset(field.name for field in fields(kind)), frozenset(required)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
