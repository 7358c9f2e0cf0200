"""Validation of data to a typed environment: all findings at once, and an environment of the valid values.

An invalid value is repaired (replaced by its default or by a harmless placeholder) and its path is recorded as tainted,
so that rules still run; findings of rules about a tainted path are not shown.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from landbridge.environment.file.shape import data_path, model_at, places_of, value_at
from landbridge.environment.file.wording import shape_finding
from landbridge.environment.model import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, path_text

# Placeholders for required keys that are missing or invalid; `*` is any key or position.
STAND_INS: dict[DataPath, Any] = {
    ("name",): "unnamed",
    ("region",): "us-east-1",
    ("owner",): "nobody",
    ("onprem", "cidr"): "10.20.0.0/16",
    ("onprem", "nodes", "*", "hosts"): "unreadable1",
    ("onprem", "nodes", "*", "platform"): "dgx-h100",
    ("onprem", "nodes", "*", "address"): "10.20.255.250",
    ("aws",): {"cidr": "10.60.0.0/16"},
    ("aws", "cidr"): "10.60.0.0/16",
    ("aws", "services", "zone"): "use1-az1",
    ("aws", "pools", "*", "name"): "unnamed",
    ("aws", "pools", "*", "instance"): "p5.48xlarge",
    ("aws", "pools", "*", "max_nodes"): 1,
    ("link", "gateway_address"): "192.0.2.1",
    ("link", "connection"): "dxcon-00000000",
    ("link", "vlan"): 1,
    ("data_classes", "*", "sites"): ["onprem"],
    ("scheduler", "partitions", "*", "nodes"): ["onprem"],
    ("scheduler", "accounts", "*", "data_class"): "internal",
    ("budget", "accounts", "*", "monthly_usd"): 0,
}
#: Fixes for keys that a former version had, by model and key.
REMOVED_KEYS: dict[tuple[str, str], str] = {
    ("Aws", "kubernetes"): "remove it: Landbridge builds no EKS cluster",
    (
        "Spot",
        "allocation",
    ): "remove it: a launch asks for one type in one zone, and the order of capacities in the file decides",
    **{
        (
            "SecretsSettings",
            key,
        ): "remove it: nothing has read it. `secrets` names the store of all secrets: docs/how-to/keep-secrets.md"
        for key in (
            "slurm_key",
            "slurm_jwt_key",
            "database_password",
            "mlflow_admin_password",
            "mlflow_database_password",
        )
    },
}
_MAX_REPAIR_ROUNDS = 60


@dataclass(slots=True)
class ValidationOutcome:
    """Result of validation. `environment` is complete only when there is no finding; `tainted` lists repaired paths."""

    environment: Environment | None = None
    findings: list[Finding] = field(default_factory=list)
    tainted: set[DataPath] = field(default_factory=set)
    _dropped: dict[DataPath, list[int]] = field(default_factory=dict)
    _renamed: dict[DataPath, str] = field(default_factory=dict)
    #: Number of tainted paths at the time of indexing, these paths with one part as `*`, and all their prefixes.
    _index: tuple[int, set[DataPath], set[DataPath]] = field(default_factory=lambda: (0, set(), set()))

    def original(self, path: DataPath) -> DataPath:
        """Return the path in the file of a path in the repaired data."""
        original_path: DataPath = ()
        for part in path:
            if isinstance(part, int):
                for index in sorted(self._dropped.get(original_path, ())):
                    part += index <= part
            else:
                part = self._renamed.get((*original_path, part), part)
            original_path = (*original_path, part)
        return original_path

    def is_tainted(self, path: DataPath) -> bool:
        """Return true if the path or one of its ancestors was repaired."""
        return any(path[:length] in self.tainted for length in range(len(path) + 1))

    def touches(self, path: DataPath) -> bool:
        """Return true if the path, one of its ancestors or one of its descendants was repaired.

        One part of the path may be `*`, any key or position: `("aws", "pools", "*", "name")` is the name of each pool,
        and with an empty last part, `("aws", "pools", "*", "")` is each pool as a whole.
        """
        if self._index[0] != len(self.tainted):
            tainted = {path for taint in self.tainted for path in _starred(taint)}
            self._index = (
                len(self.tainted),
                tainted,
                {path[:length] for path in tainted for length in range(len(path) + 1)},
            )
        _, tainted, parts = self._index
        return path in parts or any(path[:length] in tainted for length in range(len(path) + 1))


def _starred(path: DataPath) -> Iterator[DataPath]:
    """Yield a path, and the same path with each one of its parts as `*`."""
    yield path
    for index in range(len(path)):
        yield (*path[:index], "*", *path[index + 1 :])


def validate(data: Mapping[str, Any]) -> ValidationOutcome:
    """Validate plain data (from YAML or JSON) that contains `name` and `region`. Never raises."""
    outcome = ValidationOutcome()
    work: dict[str, Any] = deepcopy(dict(data))
    for _ in range(_MAX_REPAIR_ROUNDS):
        try:
            # In strict mode only JSON input permits text for addresses and lists for tuples.
            outcome.environment = Environment.model_validate_json(json.dumps(work, default=str))
            return outcome
        except ValidationError as problem:
            if not _repair_all(outcome, work, problem.errors(include_url=False)):
                return outcome
    return outcome


def _repair_all(outcome: ValidationOutcome, work: dict[str, Any], errors: list[ErrorDetails]) -> bool:
    """Report and repair all errors. Return false if a top-level section without a placeholder is missing."""
    unknown = [error for error in errors if error["type"] == "extra_forbidden"]
    others = [error for error in errors if error["type"] != "extra_forbidden"]
    # Misspelt keys first: with the name corrected, their content is checked and no key appears to be missing.
    if unknown:
        for error in unknown:
            _repair_unknown(outcome, work, error["loc"])
        return True
    places: dict[DataPath, list[tuple[ErrorDetails, DataPath]]] = {}
    for error in others:
        path, unresolved = data_path(work, error["loc"])
        here = (*path, *unresolved[:1]) if error["type"] == "missing" else path
        places.setdefault(here, []).append((error, unresolved))
    above = {path[:length] for path in places for length in range(len(path))}
    places = {path: place for path, errors in places.items() if (place := _of_its_form(errors, path in above))}
    for path, place in places.items():
        # A list is not "too short" if only its invalid items are missing.
        kind = place[0][0]["type"]
        spoilt = path in above or outcome.original(path) in outcome._dropped
        is_dropped = kind == "missing" and outcome.original(path[:-1]) in outcome._dropped
        if not (spoilt and kind == "too_short") and not is_dropped:
            outcome.findings.append(shape_finding(work, path, outcome.original(path), [error for error, _ in place]))
    # From the end, so that removing an item of a list does not move those still to be repaired.
    repaired_paths: set[DataPath] = set()
    for path in sorted(places, key=_sort_key, reverse=True):
        if any(path[:length] in repaired_paths for length in range(len(path) + 1)):
            continue
        repaired = _repair(outcome, work, path)
        if repaired is None:
            return False
        repaired_paths.add(repaired)
    return True


def _of_its_form(place: list[tuple[ErrorDetails, DataPath]], has_items: bool) -> list[tuple[ErrorDetails, DataPath]]:
    """Return the errors of a value without errors of a form that was not written, for a key with one value or a list."""
    kinds = {error["type"] for error, _ in place}
    absent = {"tuple_type": str, "string_type": list}
    return [
        (error, unresolved)
        for error, unresolved in place
        if not (isinstance(error["input"], absent.get(error["type"], ())) and (has_items or kinds - set(absent)))
    ]


def _sort_key(path: DataPath) -> tuple[tuple[bool, int, str], ...]:
    return tuple((isinstance(part, str), part if isinstance(part, int) else 0, str(part)) for part in path)


def _repair_unknown(outcome: ValidationOutcome, work: dict[str, Any], location: DataPath) -> None:
    path, unresolved = data_path(work, location)
    if unresolved or not path:
        return
    parent, key = path[:-1], str(path[-1])
    holder = value_at(work, parent)
    model = model_at(Environment, work, parent)
    fields = list(model.model_fields) if model else []
    correct_key = did_you_mean(key, [name for name in fields if name not in holder])
    near = correct_key or did_you_mean(key, fields)
    other_places, is_other_variant = places_of(Environment, key, parent)
    removed = REMOVED_KEYS.get((model.__name__ if model else "", key))
    if removed is not None:
        fix, correct_key = removed, None
    elif is_other_variant:
        fix = f"it is a key of another kind of {path_text(parent)}; change kind:, or remove it"
    elif other_places and not get_close_matches(key, fields, n=1, cutoff=0.8):
        fix = f"it is a key of {' and '.join(other_places[:3])}"
    else:
        fix = f'did you mean "{near}"?' if near else f"known here: {', '.join(fields)}" if fields else "remove it"
    location_text = f" in {path_text(parent)}" if parent else ""
    original = outcome.original(path)
    outcome.findings.append(Finding("unknown-key", f'unknown key "{key}"{location_text}', original, fix))
    value = holder.pop(key)
    if correct_key:
        holder[correct_key] = value
        outcome._renamed[(*outcome.original(parent), correct_key)] = str(original[-1])


def _repair(outcome: ValidationOutcome, work: dict[str, Any], path: DataPath) -> DataPath | None:
    """Make the value at `path` valid: remove it (its default applies), replace it, or remove its parent.

    Return the path that was removed or replaced; None if no parent remains.
    """
    while path:
        outcome.tainted.add(outcome.original(path))
        parent, key = path[:-1], path[-1]
        holder = value_at(work, parent)
        # A list of fixed length may lack the item; then the list itself is invalid.
        if isinstance(holder, list) and isinstance(key, int) and key < len(holder):
            original = outcome.original(path)[-1]
            outcome._dropped.setdefault(outcome.original(parent), []).append(cast(int, original))
            del holder[key]
            return path
        if isinstance(holder, dict):
            model = model_at(Environment, work, parent)
            if (model is None or _optional(model, str(key))) and key in holder:
                del holder[key]
                return path
            stand_in = _stand_in(path) if model is not None and not _optional(model, str(key)) else None
            if stand_in is not None and holder.get(key) != stand_in:
                holder[key] = deepcopy(stand_in)
                return path
        path = parent
    return None


def _optional(model: type[BaseModel], key: str) -> bool:
    return key not in model.model_fields or not model.model_fields[key].is_required()


def _stand_in(path: DataPath) -> Any:
    for pattern, value in STAND_INS.items():
        if len(pattern) == len(path) and all(p in ("*", part) for p, part in zip(pattern, path, strict=True)):
            return value
    return None
