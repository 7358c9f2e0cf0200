"""Defaults of canaries and of the judgement of drift (canary.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class GuardFacts(Facts):
    """Guard: its usual rate, the rise that is allowed, the rise that is found, the largest rate, and whether it counts rows."""

    expected: float
    margin: float
    effect: float
    most: float = 1.0
    per_row: bool = False
    source: str


class CanaryValue(Facts):
    """Number with its source."""

    value: float
    source: str


class CanaryWeights(Facts):
    """Percent of the traffic by step."""

    value: tuple[int, ...]
    source: str


class ShadowFacts(Facts):
    """Shadow: limits of bad copies, rates of false decisions, the least number of copies, and the tolerance of numbers."""

    limits: Mapping[str, CanaryValue]
    false_refusals: CanaryValue
    false_passes: CanaryValue
    copies: CanaryValue
    absolute_tolerance: CanaryValue


class CanaryFacts(Facts):
    """Facts of canary.yaml."""

    source: str
    as_of: date = Field(alias="date")
    guards: Mapping[str, GuardFacts]
    weights: CanaryWeights
    false_rollbacks: CanaryValue
    false_promotions: CanaryValue
    requests: CanaryValue
    step_seconds: CanaryValue
    limit_seconds: CanaryValue
    extensions: CanaryValue
    down_seconds: CanaryValue
    shadow: ShadowFacts
    low_confidence_share: CanaryValue
    drift: Mapping[str, CanaryValue]


@cache
def canary_facts() -> CanaryFacts:
    """Return the facts (cached)."""
    return read("canary", CanaryFacts)
