"""Service level objectives (objectives.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Self

from pydantic import Field, model_validator

from landbridge.catalog.files import Facts, read

#: Placeholder of the window in an expression of events.
WINDOW = "$window"


class ServiceObjective(Facts):
    """Objective: the share of good time of a part (`available`), or of good events (`good` of `total`)."""

    title: str
    target: float = Field(gt=0, lt=1)
    days: int = 28
    available: str | None = None
    good: str | None = None
    total: str | None = None

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        if (self.available is None) != (self.good is not None and self.total is not None):
            raise ValueError("write `available`, or both `good` and `total`")
        return self

    @property
    def expressions(self) -> tuple[str, ...]:
        """Return the expressions with their metrics."""
        return tuple(text for text in (self.available, self.good, self.total) if text is not None)


class ServiceObjectives(Facts):
    """Facts of objectives.yaml."""

    source: str
    as_of: date = Field(alias="date")
    bounds: tuple[float, ...]
    objectives: Mapping[str, ServiceObjective]


@cache
def service_objectives() -> ServiceObjectives:
    """Return the objectives, and the bounds of the histograms (cached)."""
    return read("objectives", ServiceObjectives)
