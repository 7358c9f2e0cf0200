"""Price books: dated prices of a file with the position of each, checks of them, and rows to append."""

from landbridge.plan.price_book.book import BookPrice, PriceBook, read_book
from landbridge.plan.price_book.checks import check_book
from landbridge.plan.price_book.rows import NewPrice, NewSource, append_prices, changed_prices

__all__ = [
    "BookPrice",
    "NewPrice",
    "NewSource",
    "PriceBook",
    "append_prices",
    "changed_prices",
    "check_book",
    "read_book",
]
