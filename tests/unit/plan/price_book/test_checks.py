"""Checks of price books: the shipped book, and one mistake at a time with its position."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from landbridge.catalog.aws.price_checks import price_checks
from landbridge.cli.main import build
from landbridge.cli.prices.books import shipped_path
from landbridge.findings import Finding, Severity
from landbridge.plan.price_book import PriceBook, check_book, read_book

TODAY = date(2026, 11, 26)
SHIPPED = read_book(shipped_path().read_bytes(), "prices.yaml")
BOOK = """\
sources:
  today: {title: the price list, date: 2026-11-20, confidence: primary}
  week: {title: another page, date: 2026-11-13, confidence: secondary}
rows:
  - {what: on_demand, unit: instance-hour, region: us-east-1, source: today, usd: {p5.48xlarge: 55.04}}
  - {what: network, unit: hour, region: us-east-1, source: today, usd: {nat_gateway: 0.045}}
"""


def run(*arguments: str) -> Result:
    """Run `landbridge prices ARGUMENTS` in this process."""
    return CliRunner().invoke(build(), ["prices", *arguments])


def check(text: str, today: date = TODAY, reference: PriceBook = SHIPPED) -> tuple[Finding, ...]:
    return check_book(read_book(text, "own.yaml"), reference, today)


def test_a_good_book_has_no_findings() -> None:
    assert check(BOOK) == ()


def test_the_shipped_book_has_only_stale_prices() -> None:
    findings = check_book(SHIPPED, SHIPPED, TODAY)
    assert {finding.rule for finding in findings} == {"price-stale"}
    assert {finding.severity for finding in findings} == {Severity.WARNING}
    assert len(SHIPPED.prices) > 200


@pytest.mark.parametrize(
    ("old", "new", "rule", "place", "message"),
    [
        (", source: today, usd: {p5", ", usd: {p5", "price-without-source", "{what: on_demand", "no source"),
        ("source: today, usd: {p5", "source: tody, usd: {p5", "price-without-source", "tody", "not listed"),
        ("date: 2026-11-20, ", "", "price-without-date", "today", "has no date"),
        ("2026-11-20", "20.11.2026", "price-without-date", "20.11.2026", "not a date of the form"),
        ("2026-11-20", "2026-11-27", "price-in-future", "2026-11-27", "is after 2026-11-26"),
        ("2026-11-20", "2025-11-25", "price-stale", "today, usd: {p5", "366 days old"),
        ("title: the price list, ", "", "price-without-source", "today", "no title"),
        ("primary", "good", "price-format", "good", "confidence"),
        ("what: on_demand", "what: ondemand", "price-format", "ondemand", "what must be one of"),
        ("p5.48xlarge: 55.04", "p5.48xlage: 55.04", "price-name", "55.04", "no instance type"),
        ("nat_gateway", "nat_gatway", "price-name", "0.045", "no cost estimate reads"),
        (
            "us-east-1, source: today, usd: {p5",
            "us-east-9, source: today, usd: {p5",
            "price-region",
            "us-east-9",
            "us-east-9",
        ),
        ("55.04", "-1", "price-format", "-1", "must be a number"),
        ("55.04", "[60, 50]", "price-format", "p5.48xlarge", "a lowest and a highest"),
        # the price of one GPU beside the unit of an instance
        ("55.04", "6.88", "price-unit", "6.88", "outside $3.44 to $24.6"),
        ("instance-hour", "gpu-hour", "price-unit", "gpu-hour", "not gpu-hour"),
        # opencost issue 3781: a price for a month taken as a price for an hour, a factor of 730
        ("55.04", str(55.04 * 730), "price-unit", "40179", "for each h100, outside"),
        ("0.045", str(0.045 * 730), "price-unit", "32.85", "far from $0.045"),
        ("0.045", f"{0.045 / 730:.7f}", "price-unit", "0.0000616", "far from $0.045"),
        ("unit: hour", "unit: GB", "price-unit", "GB", "by the GB here, and by the hour"),
    ],
)
def test_a_mistake_is_found_at_its_position(old: str, new: str, rule: str, place: str, message: str) -> None:
    assert old in BOOK
    text = BOOK.replace(old, new, 1)
    findings = check(text)
    matching = [finding for finding in findings if finding.rule == rule and message in finding.message]
    assert matching, findings
    line, column = matching[0].line, matching[0].column
    assert line is not None and column is not None and matching[0].file == "own.yaml"
    assert text.splitlines()[line - 1][column - 1 :].startswith(place), matching


def row(kind: str, source: str, price: str) -> str:
    return f"  - {{what: {kind}, unit: instance-hour, region: us-east-1, source: {source}, usd: {{p5.48xlarge: {price}}}}}\n"


@pytest.mark.parametrize(
    ("kind", "price"), [("capacity_block", "5.97"), ("savings_plan", "5.5"), ("spot", str(55.04 * 730))]
)
def test_a_price_of_another_unit_is_found_in_every_kind(kind: str, price: str) -> None:
    name = "p5.48xlarge:compute:3y:no_upfront" if kind == "savings_plan" else "p5.48xlarge"
    findings = check(BOOK + row(kind, "week", price).replace("p5.48xlarge:", f'"{name}":'))
    assert [finding.rule for finding in findings] == ["price-unit"] and "h100" in findings[0].message
    whole = check(BOOK + row(kind, "week", "25.5").replace("p5.48xlarge:", f'"{name}":'))
    assert whole == ()


@given(st.sampled_from(sorted(price_checks().ages)), st.integers(0, 2500))
def test_a_price_is_stale_exactly_after_its_kinds_age(kind: str, days: int) -> None:
    names = {"on_demand": "p5.48xlarge", "spot": "p5.48xlarge", "capacity_block": "p5.48xlarge"}
    name = {**names, "savings_plan": "p5.48xlarge:compute:1y:no_upfront"}.get(kind, "item")
    day = TODAY - timedelta(days=days)
    body: dict[str, Any] = {
        "sources": {"s": {"title": "t", "date": f"{day}", "confidence": "primary"}},
        "rows": [{"what": kind, "unit": "x", "region": "us-east-1", "source": "s", "usd": {name: 50}}],
    }
    rules = {finding.rule for finding in check(json.dumps(body))}
    assert ("price-stale" in rules) == (days > price_checks().ages[kind].days)  # type: ignore[index]


@given(st.text(max_size=200))
def test_any_text_gives_findings_and_no_exception(text: str) -> None:
    assert all(finding.line is not None for finding in check(text))


def test_the_command_has_exit_status_format_and_reference_day(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(BOOK)
    assert run("lint", "--file", str(file), "--date", "2026-11-26").exit_code == 0
    later = run("lint", "--file", str(file), "--date", "2028-01-01")
    column = BOOK.splitlines()[4].index("today, usd") + 1
    assert later.exit_code == 1 and f"{file}:5:{column}: warning" in later.stderr
    data = json.loads(run("lint", "--date", "2026-11-26", "--format", "json").stdout)
    assert data["prices"] > 200 and {finding["rule"] for finding in data["findings"]} == {"price-stale"}
    file.write_text("rows: [\n")
    assert run("lint", "--file", str(file)).exit_code == 2
    assert run("lint", "--file", str(tmp_path / "none.yaml")).exit_code == 2


def test_older_prices_of_p4de_and_the_blocks_are_in_the_book() -> None:
    newest = {price.item: price.high for price in SHIPPED.newest().values()}
    assert newest["on_demand", "p4de.24xlarge", "us-east-1"] == 27.44705
    dated = {(price.kind, price.name, price.high) for price in SHIPPED.prices}
    assert {("on_demand", "p4de.24xlarge", 40.96), ("capacity_block", "p5en.48xlarge", 36.18)} <= dated
