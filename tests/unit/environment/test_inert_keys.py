"""Every key of the environment model is read by code that plans, builds or runs: a key that only a rule reads has no effect."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from landbridge.environment import Environment

ROOT = Path(__file__).resolve().parents[3] / "landbridge"
#: Folders whose code has an effect on the cluster. The model itself and the rules have none.
READERS = ("plan", "burst", "live", "realise", "cli", "ops", "simulation", "acceptance", "policy", "economics")
#: Keys without a reader in READERS, each with the reason.
EXCEPTIONS = {
    "Roce.pfc": "the whole table is dumped for the role rdma, whose template reads it",
    "Roce.traffic_class": "the whole table is dumped for the role rdma, whose template reads it",
}


def models(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation, and those in their fields."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation, seen)
    for argument in get_args(annotation):
        yield from models(argument, seen)


def names_read() -> set[str]:
    """Return the attribute names that code reads, and words in strings: some attributes are read by name."""
    texts = [path.read_text() for folder in READERS for path in (ROOT / folder).rglob("*.py")]
    texts += [path.read_text() for path in (ROOT / "environment").rglob("*.py") if "file" not in path.parts]
    read = {name for text in texts for name in re.findall(r"\.([a-z][a-z0-9_]*)\b", text)}
    return read | {name for text in texts for name in re.findall(r"[\"\']([a-z][a-z0-9_]*)[\"\']", text)}


def test_each_key_is_read_by_code_with_an_effect() -> None:
    read = names_read()
    keys = {f"{model.__name__}.{name}" for model in models(Environment, set()) for name in model.model_fields}
    assert len(keys) > 250
    inert = {key for key in keys if key.split(".")[1] not in read}
    assert inert == set(EXCEPTIONS), (inert - set(EXCEPTIONS), set(EXCEPTIONS) - inert)
    assert all(EXCEPTIONS.values()), "each exception has a reason"
