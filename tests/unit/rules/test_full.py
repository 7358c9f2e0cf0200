"""Samples of the fuzz tests have no errors, and use every key of the model."""

import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.environment import Environment, load_environment
from landbridge.findings import Severity
from landbridge.rules import check
from tests.unit.rules.full import FULL

#: From the file's name and `aws:region`.
NOT_KEYS = {(Environment, "name"), (Environment, "region")}


@pytest.mark.parametrize("path", FULL, ids=lambda path: path.name)
def test_a_full_sample_has_no_error(path: Path) -> None:
    findings = check(load_environment(path))
    assert [finding for finding in findings if finding.severity is Severity.ERROR] == []


def test_show_prints_the_changes_of_the_health_checks_with_their_reasons() -> None:
    printed = CliRunner().invoke(build(), ["show", "--file", str(Path(__file__).parent / "full.yaml")])
    assert "    health check thermal is not checked: fans are replaced\n" in printed.output


def test_the_full_samples_use_every_key() -> None:
    environments = [load_environment(path).environment for path in FULL]
    used = {key for environment in environments for key in keys_used(environment)}
    assert {(model.__name__, name) for model, name in all_keys(Environment) - NOT_KEYS - used} == set()


def keys_used(value: Any) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield every key that is set in a model or in anything inside it."""
    if isinstance(value, BaseModel):
        for name in value.model_fields_set:
            yield type(value), name
            yield from keys_used(getattr(value, name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from keys_used(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from keys_used(item)


def all_keys(model: type[BaseModel]) -> set[tuple[type[BaseModel], str]]:
    """Return every key of a model and of the models inside it."""
    keys: set[tuple[type[BaseModel], str]] = set()
    waiting = [model]
    while waiting:
        current = waiting.pop()
        for name, field in current.model_fields.items():
            if (current, name) not in keys:
                keys.add((current, name))
                waiting += models(field.annotation)
    return keys


def models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple, dict, Mapping) or get_args(annotation):
        return [model for part in get_args(annotation) for model in models(part)]
    return []
