"""Dated prices in US dollars (prices.yaml). An unknown price is None, never a price of another region or date."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from landbridge.catalog.files import Facts, read

#: The name of a savings_plan price is `TYPE:PLAN:YEARS:PAYMENT`, such as `p5.48xlarge:ec2_instance:3y:no_upfront`.
PriceKind = Literal["on_demand", "spot", "savings_plan", "capacity_block", "storage", "network", "control"]
#: primary: the seller's page or price list. secondary: a page that quotes it. verify: no reliable source was found.
Confidence = Literal["primary", "secondary", "verify"]


@dataclass(frozen=True, slots=True)
class Price:
    """Price in US dollars: `usd` for one `unit` in `region` (or a zone of it) on the day `as_of`."""

    usd: float
    unit: str
    region: str
    as_of: date
    source: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Lowest and highest price in the zones of a region, or in one zone over time."""

    low: float
    high: float
    unit: str
    region: str
    as_of: date
    source: str
    confidence: Confidence


class PriceSource(Facts):
    """Source of prices. `date`: the day on which they were valid."""

    title: str
    url: str | None = None
    date: date
    confidence: Confidence


class PriceRow(Facts):
    """Prices of one kind at one place and time, by name; `region` is a region, a zone's id, or several regions."""

    kind: PriceKind = Field(alias="what")
    unit: str
    region: str | tuple[str, ...]
    source: str
    usd: Mapping[str, float | tuple[float, float]]

    @property
    def regions(self) -> tuple[str, ...]:
        """Return the regions or zones of these prices."""
        return (self.region,) if isinstance(self.region, str) else self.region


class Prices(Facts):
    """Facts of prices.yaml. `rows` are in the file's order."""

    source: str
    date: date
    sources: Mapping[str, PriceSource]
    rows: tuple[PriceRow, ...]

    @model_validator(mode="after")
    def _sources_are_named(self) -> "Prices":
        unlisted_sources = {row.source for row in self.rows} - set(self.sources)
        if unlisted_sources:
            raise ValueError(f"rows name sources that are not listed: {', '.join(sorted(unlisted_sources))}")
        return self


@cache
def prices() -> Prices:
    """Return the dated prices (cached)."""
    return read("prices", Prices)


def price_of(kind: PriceKind, name: str, region: str, on: date | None = None) -> Price | PriceRange | None:
    """Return the newest price of `name` in a region or zone (by id); with `on`, the newest one known on that day.

    None without a row for this region or zone: prices of a zone and of its region do not replace each other.
    """
    item = (kind, name, region)
    known_prices = (*_added.get(item, ()), *_index().get(item, ()))
    # Of equal dates the first counts: an added price before the catalogue's.
    candidates = [price for price in known_prices if on is None or price.as_of <= on]
    return max(candidates, key=lambda price: price.as_of, default=None)


def savings_plans_of(instance: str, region: str) -> dict[str, Price | PriceRange]:
    """Return the newest Savings Plans rates of a type by `PLAN:YEARS:PAYMENT`, such as `compute:1y:no_upfront`."""
    names = sorted({name for kind, name, _ in (*_added, *_index()) if kind == "savings_plan"})
    rates: dict[str, Price | PriceRange] = {}
    for name in names:
        type_name, _, plan = name.partition(":")
        rate = price_of("savings_plan", name, region) if type_name == instance else None
        if rate is not None:
            rates[plan] = rate
    return rates


#: Prices of the organisation's own book, by kind, name and region.
_added: dict[tuple[str, str, str], tuple[Price | PriceRange, ...]] = {}


def add_prices(prices: Iterable[tuple[PriceKind, str, Price | PriceRange]]) -> None:
    """Add prices by kind and name to the catalogue's prices, for this process. A command calls it before it plans, for
    the price book of an organisation; rows that were added before are replaced.
    """
    _added.clear()
    for kind, name, price in prices:
        item = (kind, name, price.region)
        _added[item] = (*_added.get(item, ()), price)


@cache
def _index() -> Mapping[tuple[str, str, str], tuple[Price | PriceRange, ...]]:
    listed = prices()
    index: dict[tuple[str, str, str], tuple[Price | PriceRange, ...]] = {}
    for row in listed.rows:
        source = listed.sources[row.source]
        for name, usd in row.usd.items():
            for region in row.regions:
                common = (row.unit, region, source.date, source.title, source.confidence)
                price = PriceRange(usd[0], usd[1], *common) if isinstance(usd, tuple) else Price(usd, *common)
                index[row.kind, name, region] = (*index.get((row.kind, name, region), ()), price)
    return index
