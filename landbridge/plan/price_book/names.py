"""Names of prices: instance types, items and regions that the catalogue does not have."""

from collections.abc import Iterator

from landbridge.catalog import instances, limits, regions
from landbridge.findings import Finding, Severity, did_you_mean
from landbridge.plan.price_book.book import BookPrice, PriceBook

_INSTANCE_KINDS = ("on_demand", "spot", "savings_plan", "capacity_block")


def instance_name(price: BookPrice) -> str:
    """Return the instance type of a price; Savings Plans rates have it before the first colon."""
    return price.name.partition(":")[0] if price.kind == "savings_plan" else price.name


def unknown_names(book: PriceBook, reference: PriceBook) -> Iterator[Finding]:
    """Yield an error for an unknown instance type or region, and a warning for an item that the catalogue's prices do not
    have, which no cost estimate reads.
    """
    places = {*regions(), *(zone for facts in regions().values() for zone in facts.zones)}
    items = {(price.kind, price.name) for price in reference.prices}
    types = instances()
    reported: set[tuple[object, ...]] = set()
    for price in book.prices:
        name, path = instance_name(price), price.path
        if price.region not in places and (path[:2], price.region) not in reported:
            reported.add((path[:2], price.region))
            near = did_you_mean(price.region, places)
            message = f"no region or availability zone id {price.region} is known"
            yield Finding("price-region", message, (*path[:2], "region"), f'did you mean "{near}"?' if near else None)
        if path in reported:
            continue
        reported.add(path)
        if price.kind in _INSTANCE_KINDS:
            known = limits().ultraservers if price.unit == "ultraserver-hour" else types
            # The catalogue has no list of RDS classes.
            if name not in known and not name.startswith("db."):
                near = did_you_mean(name, known)
                message = f"no instance type {name} is known"
                yield Finding("price-name", message, path, f'did you mean "{near}"?' if near else None)
        elif (price.kind, name) not in items:
            near = did_you_mean(name, (item for kind, item in items if kind == price.kind))
            message = f"the catalogue has no {price.kind} item {name}: no cost estimate reads this price"
            yield Finding("price-name", message, path, f'did you mean "{near}"?' if near else None, Severity.WARNING)
