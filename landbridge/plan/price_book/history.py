"""History of prices: the dated prices of an item, newest first, with the change from the previous one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from landbridge.plan.price_book.book import BookPrice


@dataclass(frozen=True, slots=True)
class PriceChange:
    """Dated price, and its change from the item's previous price as a share of that; None for the first price.

    Ranges are compared by their highest price, with which cost estimates count.
    """

    price: BookPrice
    change: float | None


def history(prices: Iterable[BookPrice], name: str, region: str | None = None) -> tuple[PriceChange, ...]:
    """Return the dated prices of a name, by kind and region in the order of the file, each newest first. For a type, its
    Savings Plans rates belong to it.
    """
    by_item: dict[tuple[str, str, str], list[BookPrice]] = defaultdict(list)
    for price in prices:
        if name in (price.name, price.name.partition(":")[0]) and region in (None, price.region):
            by_item[price.item].append(price)
    changes: list[PriceChange] = []
    for item_prices in by_item.values():
        newest_first = sorted(item_prices, key=lambda price: price.day or date.min, reverse=True)
        for price, before in zip(newest_first, [*newest_first[1:], None], strict=True):
            change = price.high / before.high - 1 if before is not None and before.high else None
            changes.append(PriceChange(price, change))
    return tuple(changes)
