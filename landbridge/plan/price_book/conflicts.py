"""Conflicts between prices: two sources of one item and period that differ, and prices that do not fit to on-demand."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from landbridge.catalog import regions
from landbridge.catalog.aws.price_checks import price_checks
from landbridge.findings import Finding, Severity
from landbridge.plan.price_book.book import BookPrice, PriceBook


def conflicts(book: PriceBook) -> Iterator[Finding]:
    """Yield a warning for two prices of one item and period that differ by more than the permitted share.

    A range agrees with a price that it contains.
    """
    limits = price_checks().conflict
    by_item: dict[tuple[str, str, str], list[BookPrice]] = defaultdict(list)
    for price in book.prices:
        if price.day is not None:
            by_item[price.item].append(price)
    for prices in by_item.values():
        for first, second in combinations(prices, 2):
            assert first.day is not None
            assert second.day is not None
            days = abs((first.day - second.day).days)
            if days <= limits.days[first.kind] and _difference(first, second) > limits.share:
                message = (
                    f"{second.kind} of {second.name} in {second.region}: {second.usd} ({second.day}) and {first.usd} "
                    f"({first.day}, line {book.source.locate(first.path)[0]}) differ by "
                    f"{_difference(first, second):.0%}; the sources are of the same period"
                )
                fix = "correct the wrong one, or the date of its source"
                yield Finding("price-conflict", message, second.path, fix, Severity.WARNING, (first.path,))


def spot_above_on_demand(book: PriceBook, reference: PriceBook) -> Iterator[Finding]:
    """Yield a warning for a spot price above the on-demand price of the region. AWS sells spot at most at that price.

    Source: EC2 User Guide, "Spot Instance pricing history"; the default maximum price of a request is the on-demand price.
    """
    on_demand = _on_demand(reference, book)
    region_of = {zone: name for name, facts in regions().items() for zone in facts.zones}
    for price in book.newest().values():
        limit = on_demand.get((price.name, region_of.get(price.region, price.region)))
        # The regional price may have fallen since an older spot price was recorded.
        if price.kind != "spot" or limit is None or price.high <= limit.high or _is_before(price, limit):
            continue
        message = f"spot of {price.name} in {price.region}: {price.usd} is above the on-demand price {limit.usd} of {limit.day}"
        fix = "check the unit and the type, or refresh the on-demand price"
        yield Finding("spot-above-on-demand", message, price.path, fix, Severity.WARNING)


def savings_plans_outside_their_share(book: PriceBook, reference: PriceBook) -> Iterator[Finding]:
    """Yield a warning for a Savings Plans rate above the on-demand price, or below the least share of it."""
    on_demand, (least, most) = _on_demand(reference, book), price_checks().savings_plan_share
    for price in book.newest().values():
        limit = on_demand.get((price.name.partition(":")[0], price.region))
        if price.kind != "savings_plan" or limit is None or not limit.high:
            continue
        share = price.high / limit.high
        if not least <= share <= most:
            message = (
                f"the rate of {price.name} in {price.region}, {price.usd}, is {share:.0%} of the on-demand price {limit.usd} "
                f"of {limit.day}: Savings Plans cost {least:.0%} to {most:.0%} of it"
            )
            fix = "check the unit and the type, or refresh the on-demand price"
            yield Finding("savings-plan-share", message, price.path, fix, Severity.WARNING)


def _on_demand(*books: PriceBook) -> dict[tuple[str, str], BookPrice]:
    """Return the newest on-demand price by type and region; that of a later book counts."""
    return {
        (price.name, price.region): price
        for book in books
        for price in book.newest().values()
        if price.kind == "on_demand"
    }


def _is_before(spot: BookPrice, on_demand: BookPrice) -> bool:
    """Return true if the spot price is of an earlier year than the on-demand price."""
    return spot.day is not None and on_demand.day is not None and (on_demand.day - spot.day).days > 365


def _difference(first: BookPrice, second: BookPrice) -> float:
    """Return the gap between two prices or ranges as a share of the lower one; 0 if they overlap."""
    lower, upper = (first, second) if first.high < second.low else (second, first)
    if upper.low <= lower.high:
        return 0.0
    return (upper.low - lower.high) / lower.high if lower.high else float("inf")
