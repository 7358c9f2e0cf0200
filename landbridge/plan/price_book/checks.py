"""Checks of a price book: format, age, agreement of sources, units, names, and spot against on-demand."""

from datetime import date

from landbridge.findings import Finding, in_order
from landbridge.plan.price_book.ages import stale_prices
from landbridge.plan.price_book.book import PriceBook
from landbridge.plan.price_book.conflicts import (
    conflicts,
    savings_plans_outside_their_share,
    spot_above_on_demand,
)
from landbridge.plan.price_book.names import unknown_names
from landbridge.plan.price_book.units import implausible_prices, mixed_units


def check_book(book: PriceBook, reference: PriceBook, today: date) -> tuple[Finding, ...]:
    """Return the findings of a book, in the order of the file. `reference` is the book of the catalogue: it has the units
    and prices of items to compare with; it may be `book` itself.
    """
    findings = [
        *book.findings,
        *stale_prices(book, today),
        *conflicts(book),
        *spot_above_on_demand(book, reference),
        *savings_plans_outside_their_share(book, reference),
        *implausible_prices(book),
        *mixed_units(book, reference),
        *unknown_names(book, reference),
    ]
    return in_order(book.located(finding) for finding in findings)
