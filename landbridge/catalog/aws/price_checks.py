"""Limits of the price checks (price_checks.yaml): ages, permitted differences, units and plausible bands."""

import datetime
from collections.abc import Mapping
from functools import cache

from landbridge.catalog.aws.prices import PriceKind
from landbridge.catalog.files import Facts, read

Band = tuple[float, float]


class MaximumAge(Facts):
    """Age in days at which the newest price of an item is stale, and the reason."""

    days: int
    reason: str


class ConflictLimits(Facts):
    """Permitted difference between two sources of the same period, and the days between dates of one period, by kind."""

    share: float
    days: Mapping[PriceKind, int]


class PriceChecks(Facts):
    """Facts of price_checks.yaml. Bands are the lowest and the highest plausible price in USD."""

    source: str
    date: datetime.date
    ages: Mapping[PriceKind, MaximumAge]
    conflict: ConflictLimits
    units: Mapping[PriceKind, tuple[str, ...]]
    accelerator_hour: Mapping[PriceKind, Mapping[str, Band]]
    unit_bands: Mapping[str, Band]
    savings_plan_share: Band
    month_hours: Band


@cache
def price_checks() -> PriceChecks:
    """Return the limits (cached)."""
    return read("price_checks", PriceChecks)
