"""Hourly rates of instances by purchase option. A price that is not known is None, never a guess."""

from dataclasses import dataclass
from datetime import date

from landbridge.catalog import Price, PriceRange, instances, limits, price_of
from landbridge.catalog.aws.prices import What
from landbridge.environment import Environment
from landbridge.plan.instances.capacity import Terms

_PURCHASE: dict[str, What] = {
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
    """One instance for one hour; `low` and `high` differ where the price moves. `how`: the purchase, in words."""

    low: float
    high: float
    how: str
    as_of: date
    source: str
    confidence: str
    note: str | None = None


def purchase_words(kind: str) -> str:
    """Return the words for how a capacity of a kind is paid."""
    return _HOW[_PURCHASE[kind]]


def instance_rate(terms: Terms, region: str) -> InstanceRate | None:
    """The newest price known in the region; None where there is none.

    A spot price is a range. It is never above the on-demand price, nor above the most that the environment pays: where no
    spot price is known, these bound it.
    """
    what, ceiling = _PURCHASE[terms.kind], terms.market.max_price_usd
    price, share, note = _price(what, terms.instance, region), 1, None
    kind = instances().get(terms.instance)
    if price is None and kind is not None and kind.ultraserver is not None:
        sold = limits().ultraservers.get(kind.ultraserver)
        price = _price(what, kind.ultraserver, region) if sold is not None else None
        share = sold.instances if sold is not None else 1
        note = f"sold as {kind.ultraserver}, {share} instances each"
    if price is None and what == "spot":
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
    return InstanceRate(low, high, _HOW[what], price.as_of, price.source, price.confidence, note)


def worst_rate(terms: Terms, environment: Environment) -> float | None:
    """The most that one instance can cost an hour: what a budget holds before a launch. None where no price is known.

    Where the catalogue knows none, it is what the environment says itself.

    A spot instance costs what its market asks, up to the most that is bid: the environment's own, else the on-demand price.
    Source: EC2 API Reference, SpotMarketOptions (MaxPrice): the default is the on-demand price.
    """
    region = environment.region
    if terms.kind == "spot":
        bid = terms.market.max_price_usd
        most = _price("on_demand", terms.instance, region)
        known_prices = [price for price in (bid, most.high if most is not None else None) if price is not None]
        if known_prices:
            return min(known_prices)
    rate = instance_rate(terms, region)
    return rate.high if rate is not None else environment.burst.prices.get(terms.instance)


def _price(what: What, name: str, region: str) -> PriceRange | None:
    price = price_of(what, name, region)
    if isinstance(price, Price):
        return PriceRange(price.usd, price.usd, price.unit, price.region, price.as_of, price.source, price.confidence)
    return price
