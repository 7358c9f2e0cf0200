"""Price book of the organisation for cost estimates: the option `--prices`."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import print_findings

OwnPrices = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Price book of the organisation, in addition to the catalogue's."),
]


def use_price_book(path: Path | None) -> None:
    """Add the prices of a book to this process's prices. Ends the command with exit status 2 if the book has errors of
    format; `landbridge prices lint` has further checks.
    """
    if path is None:
        return
    from landbridge.catalog.aws.prices import Price, PriceKind, PriceRange, add_prices
    from landbridge.cli.prices.books import load_book
    from landbridge.findings import has_errors

    book = load_book(path)
    if has_errors(book.findings):
        print_findings(book.located(finding) for finding in book.findings)
        raise typer.Exit(2)
    prices: list[tuple[PriceKind, str, Price | PriceRange]] = []
    for row in book.prices:
        if row.day is None:
            continue
        common = (row.unit, row.region, row.day, row.source, row.confidence)
        price = Price(row.high, *common) if row.low == row.high else PriceRange(row.low, row.high, *common)
        prices.append((row.kind, row.name, price))
    add_prices(prices)
