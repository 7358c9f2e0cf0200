"""Limits of the price checks (price_checks.yaml): ages, units and plausible bands."""

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


class PriceChecks(Facts):
    """Facts of price_checks.yaml. Bands are the lowest and the highest plausible price in USD; `factor`: between two prices of an item."""

    source: str
    date: datetime.date
    ages: Mapping[PriceKind, MaximumAge]
    units: Mapping[PriceKind, tuple[str, ...]]
    accelerator_hour: Mapping[PriceKind, Mapping[str, Band]]
    factor: float


@cache
def price_checks() -> PriceChecks:
    """Return the limits (cached)."""
    return read("price_checks", PriceChecks)
