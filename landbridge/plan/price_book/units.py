"""Units of prices: units that a kind does not have, an item in two units, and prices that a mixed-up unit explains."""

from collections.abc import Iterator, Sequence

from landbridge.catalog import instances
from landbridge.catalog.aws.price_checks import price_checks
from landbridge.findings import Finding
from landbridge.plan.price_book.book import BookPrice, PriceBook
from landbridge.plan.price_book.names import instance_name


def wrong_units(book: PriceBook, reference: PriceBook) -> Iterator[Finding]:
    """Yield an error for a unit that the kind does not have, or not the item in `reference`, and for an implausible price:
    outside the band of its accelerator-hour, or without a band many times a price of the item in `reference`.
    """
    known: dict[tuple[str, str], list[BookPrice]] = {}
    for price in reference.prices:
        known.setdefault((price.kind, price.name), []).append(price)
    for price in book.prices:
        units, unit_path = price_checks().units[price.kind], (*price.path[:2], "unit")
        others = known.get((price.kind, price.name), [])
        other = next((other for other in others if other.unit != price.unit), None)
        if price.unit not in units:
            message = f"{price.kind} prices have the unit {' or '.join(units)}, not {price.unit or 'none'}"
            yield Finding("price-unit", message, unit_path, f"convert the price to USD per {units[0]}")
        elif other is not None:
            message = f"{price.name} is priced by the {price.unit} here, and by the {other.unit} in {other.source}"
            yield Finding("price-unit", message, unit_path, "use one unit for an item")
        elif (problem := _implausible(price, others)) is not None:
            message = f"{price.kind} of {price.name} in {price.region}: {price.usd} a {price.unit} is {problem}"
            yield Finding("price-unit", message, price.path, "check the amount and the unit in its source")


def _implausible(price: BookPrice, others: Sequence[BookPrice]) -> str | None:
    """Return the words about a price outside the band of its accelerators, or without a band far from one of `others`."""
    checks, kind = price_checks(), instances().get(instance_name(price))
    accelerators = kind.accelerators if kind is not None and price.unit == "instance-hour" else None
    band = checks.accelerator_hour.get(price.kind, {}).get(accelerators.type) if accelerators is not None else None
    if accelerators is None or band is None:
        far = [other for other in others if _factor(price, other) > checks.factor]
        return f"far from {far[0].usd} of {far[0].day}" if far else None
    low, high = price.low / accelerators.count, price.high / accelerators.count
    if high == 0 or (band[0] <= low and high <= band[1]):
        return None
    shown = f"${low:.3g}" + (f" to ${high:.3g}" if low != high else "")
    return f"{shown} for each {accelerators.type}, outside ${band[0]:g} to ${band[1]:g}"


def _factor(price: BookPrice, other: BookPrice) -> float:
    """Return the factor between two prices; 1 if one of them is 0."""
    return max(price.high / other.high, other.high / price.high) if price.high and other.high else 1.0
