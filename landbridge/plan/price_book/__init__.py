"""Price books: dated prices of a file with the position of each, checks of them, their history, and rows to append."""

from landbridge.plan.price_book.book import BookPrice, PriceBook, read_book
from landbridge.plan.price_book.checks import check_book
from landbridge.plan.price_book.history import PriceChange, history
from landbridge.plan.price_book.rows import NewPrice, NewSource, append_prices, changed_prices

__all__ = [
    "BookPrice",
    "NewPrice",
    "NewSource",
    "PriceBook",
    "PriceChange",
    "append_prices",
    "changed_prices",
    "check_book",
    "history",
    "read_book",
]
