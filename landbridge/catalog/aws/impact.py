"""Impact of a resource's change on a running cluster (impact.yaml)."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Any, Literal

from pydantic import Field, field_validator

from landbridge.catalog.files import Facts, read


class Effect(StrEnum):
    """The ladder. Members compare by what they cost: `Effect.NONE < Effect.DATA_LOSS`."""

    NONE = "none"
    IN_PLACE = "in_place"
    DRAIN = "drain"
    STOP_POOL = "stop_pool"
    REPLACE = "replace"
    DATA_LOSS = "data_loss"

    @property
    def rank(self) -> int:
        """Return the rank on the ladder, from 0."""
        return list(Effect).index(self)


class EffectText(Facts):
    """An effect in words, and what to do first where nothing better is known."""

    title: str
    first: str


class PropertyImpact(Facts):
    """Impact of a change of one property."""

    effect: Effect
    first: str | None = None


class Case(Facts):
    """A change with a meaning of its own; every condition that is given must hold (impact.yaml says what they are)."""

    effect: Effect
    operation: Literal["update", "replace", "delete"]
    property: str | None = None
    to: Any = None
    shrinks: bool = False
    has: str | None = None
    holds: str | None = None
    first: str | None = None


class TypeImpact(Facts):
    """Impact of changes of one resource type. `holds` names the data that is lost with a resource of it, None without
    data.

    `guarded`: what it holds is worth refusing its removal; without, it is enough that it is told.
    """

    what: str
    holds: str | None = None
    guarded: bool = True
    update: Effect = Effect.IN_PLACE
    replace: Effect = Effect.REPLACE
    delete: Effect = Effect.REPLACE
    first: str | None = None
    properties: Mapping[str, PropertyImpact] = {}
    cases: tuple[Case, ...] = ()

    @field_validator("properties", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {key: {"effect": effect} if isinstance(effect, str) else effect for key, effect in value.items()}


class ImpactFacts(Facts):
    """The whole file."""

    source: str
    as_of: date = Field(alias="date")
    effects: Mapping[Effect, EffectText]
    harmless: frozenset[str]
    types: Mapping[str, TypeImpact]
    settings: frozenset[str]

    def of_type(self, token: str) -> TypeImpact | None:
        """Return the row of a resource type; None where there is none."""
        if token in self.settings:
            place = Effect.IN_PLACE
            return TypeImpact(what="setting", update=place, replace=place, delete=place)
        return self.types.get(token)


@cache
def impact_facts() -> ImpactFacts:
    """Read once."""
    return read("impact", ImpactFacts)
