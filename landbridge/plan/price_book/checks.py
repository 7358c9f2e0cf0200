"""Checks of a price book: format, age, units and names."""

from datetime import date

from landbridge.findings import Finding, in_order
from landbridge.plan.price_book.ages import stale_prices
from landbridge.plan.price_book.book import PriceBook
from landbridge.plan.price_book.names import unknown_names
from landbridge.plan.price_book.units import wrong_units


def check_book(book: PriceBook, reference: PriceBook, today: date) -> tuple[Finding, ...]:
    """Return the findings of a book, in the order of the file. `reference` is the book of the catalogue: it has the units
    and prices of items to compare with; it may be `book` itself.
    """
    findings = [
        *book.findings,
        *stale_prices(book, today),
        *wrong_units(book, reference),
        *unknown_names(book, reference),
    ]
    return in_order(book.located(finding) for finding in findings)
