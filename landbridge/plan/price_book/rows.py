"""Rows to append to a price book: new dated prices as text, beside the rows that the file has, which stay unchanged."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from landbridge.plan.price_book.book import BookPrice, ItemPrice, PriceBook

_HEADER = """\
# Prices of this organisation in US dollars, in the format of landbridge/catalog/prices.yaml. Rows are only appended: older ones
# explain earlier bills. `landbridge prices lint --file FILE` checks them.
sources:
rows:
"""
#: Width of a line of YAML; longer rows have one price in each line.
_WIDTH = 140


@dataclass(frozen=True, slots=True)
class NewSource:
    """Source of new prices: the API call that gave them, and its day."""

    key: str
    title: str
    day: date


@dataclass(frozen=True, slots=True)
class NewPrice(ItemPrice):
    """Price to append, with its source."""

    source: NewSource


def changed_prices(book: PriceBook, prices: Iterable[NewPrice]) -> tuple[tuple[NewPrice, BookPrice | None], ...]:
    """Return the prices to append, each with the newest one of the book, None for a new item. A price is left out if the
    book has the same one with the same date.
    """
    newest = book.newest()
    dated = {(price.item, price.day, price.low, price.high) for price in book.prices}
    return tuple(
        (price, newest.get(price.item))
        for price in prices
        if (price.item, price.source.day, price.low, price.high) not in dated
    )


def append_prices(text: str, prices: Sequence[NewPrice]) -> str:
    """Return the text of a price book with new sources and rows after its own; every line of `text` stays.

    An empty text gives a new book. A source's key that the text has gets a number, so that no row is re-dated.
    """
    if not prices:
        return text
    lines = (text if text.strip() else _HEADER).splitlines()
    keys = _free_keys(lines, dict.fromkeys(price.source for price in prices))
    source_lines = [line for source, key in keys.items() for line in _source_lines(key, source)]
    rows: dict[tuple[str, str, str, str], list[NewPrice]] = {}
    for price in prices:
        rows.setdefault((price.kind, price.unit, price.region, keys[price.source]), []).append(price)
    row_lines = [line for row, row_prices in rows.items() for line in _row_lines(row, row_prices)]
    for section, new_lines in (("rows", row_lines), ("sources", source_lines)):
        end = _end_of(lines, section)
        lines[end:end] = new_lines
    return "\n".join(lines) + "\n"


def _free_keys(lines: Sequence[str], sources: Iterable[NewSource]) -> dict[NewSource, str]:
    """Return a key for each source that the text does not have."""
    used = {match[1] for line in lines if (match := re.match(r"  ([\w-]+):", line))}
    keys: dict[NewSource, str] = {}
    for source in sources:
        key, number = source.key, 1
        while key in used:
            number += 1
            key = f"{source.key}_{number}"
        used.add(key)
        keys[source] = key
    return keys


def _source_lines(key: str, source: NewSource) -> list[str]:
    return [f"  {key}:", f'    title: "{source.title}"', f"    date: {source.day}", "    confidence: primary"]


def _row_lines(row: tuple[str, str, str, str], prices: Sequence[NewPrice]) -> list[str]:
    kind, unit, region, source = row
    shown = [f"{price.name}: {_yaml(price)}" for price in prices]
    head = f"what: {kind}, unit: {unit}, region: {region}, source: {source}"
    short = f"  - {{{head}, usd: {{{', '.join(shown)}}}}}"
    # In braces a colon in a name would need quotes.
    if len(short) <= _WIDTH and not any(":" in price.name for price in prices):
        return [short]
    return [
        *(f"  {'- ' if number == 0 else '  '}{part}" for number, part in enumerate(head.split(", "))),
        "    usd:",
        *(f"      {line}" for line in shown),
    ]


def _yaml(price: NewPrice) -> str:
    low, high = (repr(round(bound, 6)) for bound in (price.low, price.high))
    return low if price.low == price.high else f"[{low}, {high}]"


def _end_of(lines: list[str], section: str) -> int:
    """Return the index of the line after a section's last one. A missing section is added at the end; raises ValueError
    if the section is not in block style.
    """
    start = next((number for number, line in enumerate(lines) if re.match(rf"{section}:", line)), None)
    if start is None:
        lines.append(f"{section}:")
        return len(lines)
    if not re.fullmatch(rf"{section}:\s*(#.*)?", lines[start]):
        raise ValueError(f"{section}: must be a list of lines, so that lines can be appended")
    end = start + 1
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.strip() and not line.startswith((" ", "-", "#")):
            break
        if line.startswith((" ", "-")) and line.strip():
            end = number + 1
    return end
