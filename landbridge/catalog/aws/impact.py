"""Impact of a resource's change on a running cluster (impact.yaml)."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Any, Literal

from pydantic import Field, field_validator

from landbridge.catalog.files import Facts, read


class Effect(StrEnum):
    """Effect of a change, from none to data loss. `refused`: AWS does not make the change."""

    NONE = "none"
    IN_PLACE = "in_place"
    DRAIN = "drain"
    STOP_POOL = "stop_pool"
    REPLACE = "replace"
    REFUSED = "refused"
    DATA_LOSS = "data_loss"

    @property
    def rank(self) -> int:
        """Return the rank, from 0 for the least effect."""
        return list(Effect).index(self)


class EffectText(Facts):
    """Title of an effect, and the default for the action before the update."""

    title: str
    first: str


class RefusedSize(Facts):
    """Change of a value that AWS refuses; all its conditions must hold (impact.yaml lists them). `below`: share of the old
    size; `times`: changes that AWS accepts within `hours`; `says`: AWS's sentence."""

    change: Literal["shrinks", "grows", "changes"]
    below: float | None = None
    hours: float | None = None
    times: int = 1
    where: Mapping[str, Any] = {}
    says: str

    def refuses(self, old: Any, new: Any, hours_since: float | None, properties: Mapping[str, Any]) -> bool | None:
        """Return whether AWS refuses the change of a resource with `properties`; None if that depends on the unknown time
        of earlier changes."""
        is_size = isinstance(old, int | float) and isinstance(new, int | float)
        if self.change == "changes":
            is_same = old == new or None in (old, new)
        else:
            is_same = not is_size or (new >= old if self.change == "shrinks" else new <= old)
        if is_same or (
            # round(): 110 is a tenth more than 100, although 100 * 1.1 is more than 110.
            (self.below is not None and new >= round(old * (1 + self.below), 6))
            or any(properties.get(key) != value for key, value in self.where.items())
        ):
            return False
        if self.hours is None:
            return True
        if hours_since is not None and (self.times == 1 or hours_since >= self.hours):
            return hours_since < self.hours
        return None


class PropertyImpact(Facts):
    """Impact of a change of one property; `of`: the number in it to which `refuses` applies, else its own value."""

    effect: Effect
    first: str | None = None
    of: str | None = None
    refuses: tuple[RefusedSize, ...] = ()

    def refusal(
        self, old: Any, new: Any, hours_since: float | None = None, properties: Mapping[str, Any] | None = None
    ) -> tuple[RefusedSize, bool] | None:
        """Return the row of the change of a property's value that AWS refuses, and whether that is sure; None if it
        accepts it. A value without a size neither shrinks nor grows."""
        before, after = (
            value.get(self.of) if self.of and isinstance(value, Mapping) else value for value in (old, new)
        )
        judged = [(row, row.refuses(before, after, hours_since, properties or {})) for row in self.refuses]
        sure = next(((row, True) for row, is_refused in judged if is_refused), None)
        return sure or next(((row, False) for row, is_refused in judged if is_refused is None), None)


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
