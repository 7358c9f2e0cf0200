"""Hourly rates of instances by purchase option. A price that is not known is None, never a guess."""

from dataclasses import dataclass
from datetime import date

from landbridge.catalog import Price, PriceRange, instances, limits, price_of
from landbridge.catalog.aws.prices import PriceKind
from landbridge.environment import Environment
from landbridge.plan.instances.capacity import Terms

_PURCHASE: dict[str, PriceKind] = {
    "on_demand": "on_demand",
    # A reservation costs what on-demand does, used or not. Source: EC2 User Guide, "On-Demand Capacity Reservation pricing".
    "reservation": "on_demand",
    "reservation_group": "on_demand",
    "spot": "spot",
    "capacity_block": "capacity_block",
}
_HOW = {"on_demand": "on demand", "spot": "spot", "capacity_block": "Capacity Block"}


@dataclass(frozen=True, slots=True)
class InstanceRate:
    """Price of one instance for one hour, in USD; `low` and `high` differ for a variable price. `how` is the purchase
    option in words. `as_of` is None for a price of the environment file, which has no date.
    """

    low: float
    high: float
    how: str
    as_of: date | None
    source: str
    confidence: str
    note: str | None = None


def purchase_words(kind: str) -> str:
    """Return the purchase option of a kind of capacity, in words."""
    return _HOW[_PURCHASE[kind]]


def instance_rate(terms: Terms, region: str) -> InstanceRate | None:
    """Return the newest price in the region; None if unknown.

    A spot price is a range. It is at most the on-demand price and at most the environment's maximum price: these are
    its bounds if no spot price is known.
    """
    purchase, ceiling = _PURCHASE[terms.kind], terms.market.max_price_usd
    price, share, note = _price(purchase, terms.instance, region), 1, None
    kind = instances().get(terms.instance)
    if price is None and kind is not None and kind.ultraserver is not None:
        sold = limits().ultraservers.get(kind.ultraserver)
        price = _price(purchase, kind.ultraserver, region) if sold is not None else None
        share = sold.instances if sold is not None else 1
        note = f"sold as {kind.ultraserver}, {share} instances each"
    if price is None and purchase == "spot":
        price = _price("on_demand", terms.instance, region)
        note = "no spot price known; it is never above the on-demand price"
    if price is None:
        return None
    low, high = price.low / share, price.high / share
    if low != high:
        note = f"between ${low:,.2f} and ${high:,.2f} when it was recorded"
    if ceiling is not None and ceiling < high:
        low, high = min(low, ceiling), ceiling
        note = f"at most ${high:,.2f}, as this environment pays no more"
    return InstanceRate(low, high, _HOW[purchase], price.as_of, price.source, price.confidence, note)


def known_rate(terms: Terms, environment: Environment) -> InstanceRate | None:
    """Return the newest price in the environment's region; without one, the price in the environment file
    (`burst.prices`). None if unknown.
    """
    rate, usd = instance_rate(terms, environment.region), environment.burst.prices.get(terms.instance)
    if rate is not None or usd is None:
        return rate
    # A spot instance costs no more than the maximum price of its request.
    usd = min(usd, terms.market.max_price_usd or usd)
    source = "burst.prices of the environment file"
    return InstanceRate(usd, usd, purchase_words(terms.kind), None, source, "primary", "own price of this environment")


def worst_rate(terms: Terms, environment: Environment) -> float | None:
    """Return the maximum cost of one instance for one hour, in USD: a budget holds it before a launch. None if unknown.

    Without a price in the catalogue, it is the price in the environment file.

    A spot instance costs the market price, up to the maximum price: that of the environment, else the on-demand price.
    Source: EC2 API Reference, SpotMarketOptions (MaxPrice): the default is the on-demand price.
    """
    region = environment.region
    if terms.kind == "spot":
        max_price = terms.market.max_price_usd
        on_demand = _price("on_demand", terms.instance, region)
        known_prices = [
            price for price in (max_price, on_demand.high if on_demand is not None else None) if price is not None
        ]
        if known_prices:
            return min(known_prices)
    rate = known_rate(terms, environment)
    return rate.high if rate is not None else None


def _price(kind: PriceKind, name: str, region: str) -> PriceRange | None:
    price = price_of(kind, name, region)
    if isinstance(price, Price):
        return PriceRange(price.usd, price.usd, price.unit, price.region, price.as_of, price.source, price.confidence)
    return price
