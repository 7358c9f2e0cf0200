"""Rows that are appended to a price book: old lines stay, and the new prices are read back as they are."""

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.cli.prices.books import shipped_path
from landbridge.plan.price_book import NewPrice, NewSource, append_prices, changed_prices, read_book

SOURCE = NewSource("price_list", "AWS price list, pricing GetProducts for AmazonEC2", date(2026, 11, 25))
COMMENTED = """\
# A comment above.
sources:
  price_list:
    title: an older list
    date: 2026-11-01
    confidence: secondary
# A comment between.
rows:
  - {what: on_demand, unit: instance-hour, region: us-east-1, source: price_list, usd: {p5.48xlarge: 56.0}}  # with a note
# A comment about what follows.
onprem:
  years: 3
"""
usd = st.floats(0.0001, 5000).map(lambda value: round(value, 6))
names = st.sampled_from(["p5.48xlarge", "g6e.12xlarge", "p4d.24xlarge", "p5.48xlarge:compute:1y:no_upfront"])
new_prices = st.builds(
    lambda name, region, bounds, key: NewPrice(
        "savings_plan" if ":" in name else "spot",
        name,
        region,
        min(bounds),
        max(bounds),
        "instance-hour",
        NewSource(key, f"title of {key}, a list: of prices", SOURCE.day),
    ),
    names,
    st.sampled_from(["us-east-1", "use1-az4", "eu-west-2"]),
    st.tuples(usd, usd),
    st.sampled_from(["price_list", "spot_us_east_1"]),
)


def price(low: float, high: float | None = None) -> NewPrice:
    return NewPrice("on_demand", "p5.48xlarge", "us-east-1", low, high or low, "instance-hour", SOURCE)


@given(
    st.sampled_from([COMMENTED, "", shipped_path().read_text(), "sources: # none yet\nrows:"]),
    st.lists(new_prices, max_size=8, unique_by=lambda new: (new.item, new.source)),
)
def test_old_lines_stay_in_order_and_new_prices_are_read_back(text: str, prices: list[NewPrice]) -> None:
    appended = append_prices(text, prices)
    lines = iter(appended.splitlines())
    assert all(line in lines for line in text.splitlines())
    before, after = read_book(text, "prices.yaml"), read_book(appended, "prices.yaml")
    assert not [finding for finding in after.findings if prices or text.startswith("#")]
    assert after.prices[: len(before.prices)] == before.prices
    added = {(row.item, row.low, row.high, row.day, row.source) for row in after.prices[len(before.prices) :]}
    assert added == {(new.item, new.low, new.high, new.source.day, new.source.title) for new in prices}


def test_a_source_of_the_same_key_gets_a_number_and_sections_after_it_stay() -> None:
    appended = append_prices(COMMENTED, [price(55.04)])
    assert "  price_list_2:" in appended and appended.endswith("onprem:\n  years: 3\n")
    row = next(line for line in appended.splitlines() if "55.04" in line)
    assert "source: price_list_2" in row
    again = append_prices(appended, [price(54)])
    assert "  price_list_3:" in again
    positions = [again.index(part) for part in ("56.0", "55.04", "54", "# A comment about", "onprem")]
    assert all(first < second for first, second in pairwise(positions))


def test_rows_in_flow_style_are_refused() -> None:
    with pytest.raises(ValueError, match="rows: must be a list of lines"):
        append_prices("sources:\nrows: []\n", [price(55.04)])


def test_only_prices_that_the_book_does_not_have_are_changes() -> None:
    book = read_book(append_prices(COMMENTED, [price(55.04)]), "prices.yaml")
    assert changed_prices(book, [price(55.04)]) == ()
    ((new, before),) = changed_prices(book, [price(54, 56)])
    assert (new.usd, before and before.usd) == ("$54 to $56", "$55.04")
