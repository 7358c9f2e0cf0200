"""The lines of a bill that has not been sent yet."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from landbridge.catalog import Price, PriceRange, price_of
from landbridge.catalog.aws.prices import What

#: AWS's own month in its price examples: 365 days of 24 hours, in twelve parts.
HOURS_A_MONTH = 730
#: What a price's source is worth, best first.
CONFIDENCE = ("primary", "secondary", "verify")


@dataclass(frozen=True, slots=True)
class SpendLine:
    """One thing that is paid for, in US dollars.

    `usd_hour` and `usd_month`: with everything running that may. `fixed_hour` and `fixed_month`: the part that is billed
    whatever runs. `usd_whole`: paid at once, for a window. `as_of`, `source` and `confidence` are the price's own.
    """

    what: str
    pool: str | None
    data_class: str | None
    usd_hour: float
    usd_month: float
    fixed_hour: float
    fixed_month: float
    as_of: date
    source: str
    confidence: str
    usd_whole: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Something that costs money and has no figure here: no price is known there, or it is paid by volume."""

    what: str
    pool: str | None
    data_class: str | None
    why: str


BillItem = SpendLine | Unpriced


@dataclass(frozen=True, slots=True)
class Spend:
    """Every line, and what has no figure. Sums leave out what has none: look at `unpriced` before you trust them."""

    lines: tuple[SpendLine, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def usd_hour(self) -> float:
        """An hour in which everything runs."""
        return sum(line.usd_hour for line in self.lines)

    @property
    def usd_month(self) -> float:
        """A month in which everything runs."""
        return sum(line.usd_month for line in self.lines)

    @property
    def fixed_month(self) -> float:
        """A month in which no job runs."""
        return sum(line.fixed_month for line in self.lines)

    @property
    def as_of(self) -> date | None:
        """The oldest price among the lines; None without lines."""
        return min((line.as_of for line in self.lines), default=None)

    def by_pool(self) -> dict[str | None, tuple[float, float]]:
        """Month with everything running, and fixed month, for each pool; None: what is no pool's."""
        return self._by("pool")

    def by_data_class(self) -> dict[str | None, tuple[float, float]]:
        """The same for each data class; None: what several share."""
        return self._by("data_class")

    def _by(self, field: str) -> dict[str | None, tuple[float, float]]:
        found: dict[str | None, tuple[float, float]] = {}
        for line in self.lines:
            key = getattr(line, field)
            month, fixed = found.get(key, (0.0, 0.0))
            found[key] = (month + line.usd_month, fixed + line.fixed_month)
        return found


def hourly(what: str, name: str, region: str, count: float, kind: What = "network") -> Iterator[BillItem]:
    """A line for something billed by the hour whatever runs, `count` times."""
    price = price_of(kind, name, region)
    if not isinstance(price, Price):
        yield no_price(what, name, region)
        return
    hour = price.usd * count
    yield fixed(what, hour, hour * HOURS_A_MONTH, price)


def monthly(
    what: str,
    name: str,
    region: str,
    units: float,
    *,
    kind: What = "storage",
    data_class: str | None = None,
    note: str | None = None,
) -> Iterator[BillItem]:
    """A line for something billed by the month, as what is stored is: `units` of what the price is for."""
    price = price_of(kind, name, region)
    if not isinstance(price, Price):
        yield no_price(what, name, region, data_class)
        return
    month = price.usd * units
    yield fixed(what, month / HOURS_A_MONTH, month, price, data_class=data_class, note=note)


def by_volume(what: str, kind: What, name: str, region: str, data_class: str | None = None) -> Unpriced:
    """Something paid by how much of it there will be, with its price where one is known."""
    price = price_of(kind, name, region)
    if price is None:
        return no_price(what, name, region, data_class)
    usd = f"${price.usd:g}" if isinstance(price, Price) else f"${price.low:g} to ${price.high:g}"
    return Unpriced(what, None, data_class, f"by volume: {usd} a {price.unit}, price of {price.as_of}")


def fixed(
    what: str,
    hour: float,
    month: float,
    price: Price | PriceRange,
    *,
    data_class: str | None = None,
    note: str | None = None,
) -> SpendLine:
    """A line that is billed whatever runs."""
    return SpendLine(
        what, None, data_class, hour, month, hour, month, price.as_of, price.source, price.confidence, note=note
    )


def no_price(what: str, name: str, region: str, data_class: str | None = None) -> Unpriced:
    """What the catalogue has no price for."""
    return Unpriced(what, None, data_class, f"no price known for {name} in {region}")
