"""Impact of a resource's change on a running cluster (impact.yaml)."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Any, Literal

from pydantic import Field, field_validator

from landbridge.catalog.files import Facts, read


class Effect(StrEnum):
    """Effect of a change, from none to data loss."""

    NONE = "none"
    IN_PLACE = "in_place"
    DRAIN = "drain"
    STOP_POOL = "stop_pool"
    REPLACE = "replace"
    DATA_LOSS = "data_loss"

    @property
    def rank(self) -> int:
        """Return the rank, from 0 for the least effect."""
        return list(Effect).index(self)


class EffectText(Facts):
    """Title of an effect, and the default for the action before the update."""

    title: str
    first: str


class PropertyImpact(Facts):
    """Impact of a change of one property."""

    effect: Effect
    first: str | None = None


class Case(Facts):
    """Special case of a change; all its conditions must hold (impact.yaml lists them)."""

    effect: Effect
    operation: Literal["update", "replace", "delete"]
    property: str | None = None
    to: Any = None
    shrinks: bool = False
    has: str | None = None
    holds: str | None = None
    first: str | None = None


class TypeImpact(Facts):
    """Impact of changes of one resource type. `holds` describes the data that is lost with such a resource; None
    without data.

    `guarded`: a deletion is refused; otherwise it is only reported.
    """

    noun: str
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
    """Facts of impact.yaml."""

    source: str
    as_of: date = Field(alias="date")
    effects: Mapping[Effect, EffectText]
    harmless: frozenset[str]
    types: Mapping[str, TypeImpact]
    settings: frozenset[str]

    def of_type(self, token: str) -> TypeImpact | None:
        """Return the row of a resource type; None if unknown."""
        if token in self.settings:
            in_place = Effect.IN_PLACE
            return TypeImpact(noun="setting", update=in_place, replace=in_place, delete=in_place)
        return self.types.get(token)


@cache
def impact_facts() -> ImpactFacts:
    """Return the facts of impact (cached)."""
    return read("impact", ImpactFacts)
