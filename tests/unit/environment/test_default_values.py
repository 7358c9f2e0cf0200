"""Default settings are built without a validator; they are what the validator would build."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from landbridge.environment import Environment
from landbridge.environment.base import Model


def _below(model: type[Model]) -> Iterator[type[Model]]:
    for child in model.__subclasses__():
        yield child
        yield from _below(child)


def _defaults() -> Iterator[tuple[str, BaseModel]]:
    for model in dict.fromkeys(_below(Model)):
        for name, field in model.model_fields.items():
            for default in _models_in(field):
                yield f"{model.__name__}.{name}", default


def _models_in(field: FieldInfo) -> Iterator[BaseModel]:
    values = field.default if isinstance(field.default, tuple) else (field.default,)
    yield from (value for value in values if isinstance(value, BaseModel))


DEFAULTS = dict(_defaults())


def test_settings_have_default_values() -> None:
    assert len(DEFAULTS) > 40
    assert "Environment.storage" in DEFAULTS and Environment.__module__.startswith("landbridge.")


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_is_what_its_validator_builds(name: str) -> None:
    default = DEFAULTS[name]
    written = default.model_dump(mode="python", exclude_unset=True)
    validated = type(default).model_validate(written)
    assert validated == default
    assert validated.model_dump() == default.model_dump()
