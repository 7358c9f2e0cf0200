"""Ages of prices: items whose newest price is older than its kind permits, and dates after today."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta

from landbridge.catalog.aws.price_checks import price_checks
from landbridge.findings import DataPath, Finding, Severity
from landbridge.plan.price_book.book import BookPrice, PriceBook


def stale_prices(book: PriceBook, today: date) -> Iterator[Finding]:
    """Yield a warning for each row with stale prices, and an error for each source with a date after today.

    Only the newest price of an item counts: older rows are history.
    """
    by_row: dict[DataPath, list[BookPrice]] = defaultdict(list)
    for price in book.newest().values():
        limit = price_checks().ages[price.kind]
        if price.day is not None and today - price.day > timedelta(days=limit.days):
            by_row[price.path[:2]].append(price)
    for path, prices in by_row.items():
        first = prices[0]
        limit = price_checks().ages[first.kind]
        names = list(dict.fromkeys(price.name for price in prices))
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        age = (today - first.day).days if first.day is not None else 0
        message = (
            f"{first.kind} prices of {shown} are {age} days old; at most {limit.days} are permitted: {limit.reason}"
        )
        fix = "run `landbridge prices refresh`, or add a row with a newer source"
        yield Finding("price-stale", message, (*path, "source"), fix, Severity.WARNING)
    # Sources without rows are checked too: a wrong year hides every older row.
    sources = book.source.data.get("sources") if isinstance(book.source.data, dict) else None
    for key, row in (sources if isinstance(sources, dict) else {}).items():
        text = row.get("date") if isinstance(row, dict) else None
        try:
            later = isinstance(text, str) and date.fromisoformat(text) > today
        except ValueError:
            continue
        if later:
            message = f"the date of the source {key}, {text}, is after {today}"
            yield Finding("price-in-future", message, ("sources", key, "date"), "correct the date")
