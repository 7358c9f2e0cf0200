"""Model, keys and choices at a path of an environment."""

import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from landbridge.findings import DataPath

Data = Any


def model_at(root: type[BaseModel], data: Data, path: DataPath) -> type[BaseModel] | None:
    """Return the model of the mapping at `path`; variants are selected by the data's `kind`."""
    return _chosen(_annotation_at(root, data, path), _data_at(data, path))


def choices_at(root: type[BaseModel], data: Data, path: DataPath) -> tuple[str, ...]:
    """Return the values that are permitted at `path`; empty if it is not a choice."""
    if path and path[-1] == "kind":
        annotation = _annotation_at(root, data, path[:-1])
        kinds = [get_args(model.model_fields["kind"].annotation) for model in _models(annotation)]
        return tuple(str(word) for words in kinds for word in words)
    annotation = _annotation_at(root, data, path)
    return tuple(str(word) for part in _flat(annotation) if get_origin(part) is Literal for word in get_args(part))


def places_of(root: type[BaseModel], key: str, near: DataPath) -> tuple[tuple[str, ...], bool]:
    """Return the other paths with a key of this name, as users write them (`aws.pools[]`), those inside `near` first.

    The second value is true if the key belongs to another variant of the section at `near`.
    """
    here = "".join("[]" if isinstance(part, int) else f".{part}" for part in near).removeprefix(".")
    places = _places(root).get(key, ())
    place_near = next((place for place in places if _fits(place, here)), None)
    others = (place for place in places if place != place_near)
    return tuple(sorted(others, key=lambda place: not place.startswith(here))), place_near is not None


def _fits(place: str, here: str) -> bool:
    """Return true if a path of the model, with `<name>` for any key, matches these keys."""
    parts, keys = place.split("."), here.split(".")
    same = len(parts) == len(keys)
    return same and all(a == b or a == "<name>" for a, b in zip(parts, keys, strict=True))


@cache
def _places(root: type[BaseModel]) -> Mapping[str, tuple[str, ...]]:
    places_by_key: dict[str, tuple[str, ...]] = {}
    waiting: list[tuple[type[BaseModel], str]] = [(root, "")]
    visited: set[tuple[type[BaseModel], str]] = set()
    while waiting:
        model, place = waiting.pop(0)
        if (model, place) in visited:
            continue
        visited.add((model, place))
        for name, field in model.model_fields.items():
            if place and place not in places_by_key.get(name, ()):
                places_by_key[name] = (*places_by_key.get(name, ()), place)
            below = f"{place}.{name}" if place else name
            waiting += [(inner, f"{below}{suffix}") for inner, suffix in _inside(field.annotation)]
    return places_by_key


def _inside(annotation: Any, suffix: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the models in an annotation, each with `[]` for items of a list and `.<name>` for values of a mapping."""
    for part in _flat(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part, suffix
        elif get_origin(part) is tuple:
            yield from _inside(get_args(part)[0], f"{suffix}[]")
        elif get_origin(part) in (Mapping, dict):
            yield from _inside(get_args(part)[1], f"{suffix}.<name>")


def data_path(data: Data, location: Sequence[str | int]) -> tuple[DataPath, DataPath]:
    """Split a pydantic location into the path that exists in `data` and the remainder.

    Variant names that pydantic inserts are removed; the remainder is a missing key, or empty.
    """
    path: list[str | int] = []
    entered = True
    for index, part in enumerate(location):
        # Check for the variant first: a `reservation` has a key of that name too.
        if entered and isinstance(data, Mapping) and data.get("kind") == part:
            entered = False
            continue
        # A list has no names: this is the name of a variant.
        if isinstance(data, list) and isinstance(part, str):
            continue
        if not _has(data, part):
            return tuple(path), tuple(location[index:])
        data = data[part]
        entered = True
        path.append(part)
    return tuple(path), ()


def value_at(data: Data, path: DataPath) -> Any:
    """Return the value at an existing path."""
    for part in path:
        data = data[part]
    return data


def _annotation_at(root: type[BaseModel], data: Data, path: DataPath) -> Any:
    annotation: Any = root
    for index, part in enumerate(path):
        annotation = _step(annotation, _data_at(data, path[:index]), part)
    return annotation


def _step(annotation: Any, data: Data, part: str | int) -> Any:
    model = _chosen(annotation, data)
    if model is not None:
        # A misspelt or unknown key has no annotation; None has no models in it either.
        return model.model_fields[str(part)].annotation if part in model.model_fields else None
    for candidate in _flat(annotation):
        arguments = get_args(candidate)
        origin = get_origin(candidate)
        if origin is tuple and isinstance(part, int) and arguments:
            return arguments[0]
        if origin is Mapping and isinstance(part, str):
            return arguments[1]
    return None


def _chosen(annotation: Any, data: Data) -> type[BaseModel] | None:
    models = _models(annotation)
    if len(models) < 2:
        return models[0] if models else None
    kind = data.get("kind") if isinstance(data, Mapping) else None
    return next((model for model in models if kind in get_args(model.model_fields["kind"].annotation)), None)


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [part for part in _flat(annotation) if isinstance(part, type) and issubclass(part, BaseModel)]


def _flat(annotation: Any) -> list[Any]:
    """Return the alternatives of an annotation, without Annotated and Optional."""
    if get_origin(annotation) is Annotated:
        return _flat(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [flat for part in get_args(annotation) for flat in _flat(part)]
    return [annotation]


def _data_at(data: Data, path: DataPath) -> Data:
    for part in path:
        if not _has(data, part):
            return None
        data = data[part]
    return data


def _has(data: Data, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, Mapping) and part in data
