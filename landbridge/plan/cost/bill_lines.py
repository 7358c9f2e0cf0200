"""Lines of an estimated bill."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from landbridge.catalog import Price, PriceRange, price_of
from landbridge.catalog.aws.prices import PriceKind

#: Hours of a month in AWS's price examples: 365 days of 24 hours, divided by twelve.
HOURS_PER_MONTH = 730
#: Confidence in a price's source, best first.
CONFIDENCE = ("primary", "secondary", "verify")
#: no_price: the sum is too low without it. by_volume: its amount depends on use. not_counted: not a cost of this environment.
UnpricedReason = Literal["no_price", "by_volume", "not_counted"]


@dataclass(frozen=True, slots=True)
class SpendLine:
    """Billed item, in US dollars.

    `usd_hour` and `usd_month`: with all nodes running. `fixed_hour` and `fixed_month`: the part that is billed with no
    node running. `usd_whole`: paid in advance for a Capacity Block's window. `as_of`, `source` and `confidence` are
    those of the price; `as_of` is None for a price of the environment file.
    """

    description: str
    pool: str | None
    data_class: str | None
    usd_hour: float
    usd_month: float
    fixed_hour: float
    fixed_month: float
    as_of: date | None
    source: str
    confidence: str
    usd_whole: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Billed item without an amount: its price is unknown, or it is billed by volume. `hosts`: of an owned node group."""

    description: str
    pool: str | None
    data_class: str | None
    why: str
    reason: UnpricedReason = "no_price"
    hosts: str | None = None


BillItem = SpendLine | Unpriced


@dataclass(frozen=True, slots=True)
class Spend:
    """Estimated bill: priced lines and unpriced items. Sums do not include unpriced items: check `unpriced` first."""

    lines: tuple[SpendLine, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def usd_hour(self) -> float:
        """Cost of an hour with everything running."""
        return sum(line.usd_hour for line in self.lines)

    @property
    def usd_month(self) -> float:
        """Cost of a month with everything running."""
        return sum(line.usd_month for line in self.lines)

    @property
    def fixed_month(self) -> float:
        """Cost of a month without jobs."""
        return sum(line.fixed_month for line in self.lines)

    @property
    def without_price(self) -> tuple[Unpriced, ...]:
        """Items whose price is unknown: with one of them, every sum is a lower bound. Items billed by volume do not count."""
        return tuple(item for item in self.unpriced if item.reason == "no_price")

    @property
    def as_of(self) -> date | None:
        """Date of the oldest price among the lines; None without dated prices."""
        return min((line.as_of for line in self.lines if line.as_of is not None), default=None)

    def by_pool(self) -> dict[str | None, tuple[float, float]]:
        """Return the full and the fixed cost of a month by pool; None: lines without a pool."""
        return self._by("pool")

    def by_data_class(self) -> dict[str | None, tuple[float, float]]:
        """Return the full and the fixed cost of a month by data class; None: lines of several classes."""
        return self._by("data_class")

    def _by(self, field: str) -> dict[str | None, tuple[float, float]]:
        by_key: dict[str | None, tuple[float, float]] = {}
        for line in self.lines:
            key = getattr(line, field)
            month, fixed = by_key.get(key, (0.0, 0.0))
            by_key[key] = (month + line.usd_month, fixed + line.fixed_month)
        return by_key


def hourly(description: str, name: str, region: str, count: float, kind: PriceKind = "network") -> Iterator[BillItem]:
    """Yield a line for `count` units of an item billed by the hour, independent of use."""
    price = price_of(kind, name, region)
    if not isinstance(price, Price):
        yield no_price(description, name, region)
        return
    hour = price.usd * count
    yield fixed(description, hour, hour * HOURS_PER_MONTH, price)


def monthly(
    description: str,
    name: str,
    region: str,
    units: float,
    *,
    kind: PriceKind = "storage",
    data_class: str | None = None,
    note: str | None = None,
) -> Iterator[BillItem]:
    """Yield a line for an item billed by the month, such as storage: `units` of the price's unit."""
    price = price_of(kind, name, region)
    if not isinstance(price, Price):
        yield no_price(description, name, region, data_class)
        return
    month = price.usd * units
    yield fixed(description, month / HOURS_PER_MONTH, month, price, data_class=data_class, note=note)


def by_volume(description: str, kind: PriceKind, name: str, region: str, data_class: str | None = None) -> Unpriced:
    """Return an unpriced item billed by volume, with its unit price if known."""
    price = price_of(kind, name, region)
    if price is None:
        return replace(no_price(description, name, region, data_class), reason="by_volume")
    usd = f"${price.usd:g}" if isinstance(price, Price) else f"${price.low:g} to ${price.high:g}"
    return Unpriced(
        description, None, data_class, f"by volume: {usd} a {price.unit}, price of {price.as_of}", "by_volume"
    )


def fixed(
    description: str,
    hour: float,
    month: float,
    price: Price | PriceRange,
    *,
    data_class: str | None = None,
    note: str | None = None,
) -> SpendLine:
    """Return a line that is billed independent of use."""
    return SpendLine(
        description, None, data_class, hour, month, hour, month, price.as_of, price.source, price.confidence, note=note
    )


def no_price(description: str, name: str, region: str, data_class: str | None = None) -> Unpriced:
    """Return an unpriced item: the catalogue has no price."""
    return Unpriced(description, None, data_class, f"no price known for {name} in {region}")
