"""Price book of a YAML file in the format of prices.yaml: each price with its position, and findings about the format."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, get_args

from landbridge.catalog.aws.prices import Confidence, PriceKind
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, Finding, Severity, did_you_mean

_KINDS: tuple[str, ...] = get_args(PriceKind)
_CONFIDENCE: tuple[str, ...] = get_args(Confidence)


@dataclass(frozen=True, slots=True)
class ItemPrice:
    """Price of an item in one region: `low` and `high` in USD for one `unit`, equal unless it is a range."""

    kind: PriceKind
    name: str
    region: str
    low: float
    high: float
    unit: str

    @property
    def item(self) -> tuple[PriceKind, str, str]:
        """Return kind, name and region, which all prices of one item have in common."""
        return self.kind, self.name, self.region

    @property
    def usd(self) -> str:
        """Return the price as text, such as `$55.04` or `$16.95 to $55.04`."""
        return f"${self.high:g}" if self.low == self.high else f"${self.low:g} to ${self.high:g}"


@dataclass(frozen=True, slots=True)
class BookPrice(ItemPrice):
    """Price of a price book.

    `day` is the date of the source, None if the file has none. `path` is the price's path in the file.
    """

    day: date | None
    source: str
    confidence: Confidence
    path: DataPath


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Prices of one file in its order, and the findings about its format, without position."""

    source: Source
    prices: tuple[BookPrice, ...]
    findings: tuple[Finding, ...]

    def located(self, finding: Finding) -> Finding:
        """Return a finding with the position of its path in the file."""
        return finding if finding.line is not None else finding.at(self.source.file, *self.source.locate(finding.path))

    def newest(self) -> dict[tuple[str, str, str], BookPrice]:
        """Return the newest price of each item; prices without a date are left out. Of equal dates the first counts, as
        in the cost estimate.
        """
        newest: dict[tuple[str, str, str], BookPrice] = {}
        for price in self.prices:
            before = newest.get(price.item)
            if price.day is not None and (before is None or before.day is None or price.day > before.day):
                newest[price.item] = price
        return newest


def read_book(text: str | bytes, file: str) -> PriceBook:
    """Read a price book. Never raises: wrong parts are findings and are left out of the prices."""
    source = read(text, file)
    findings = list(source.findings)
    prices: list[BookPrice] = []
    if isinstance(source.data, dict):
        sources, rows = source.data.get("sources"), source.data.get("rows")
        known_sources = sources if isinstance(sources, dict) else {}
        for key, row in known_sources.items():
            findings += _source_findings(key, row)
        if not isinstance(rows, list):
            findings.append(Finding("price-format", "rows must be a list of prices", ("rows",)))
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            findings += _row_findings(number, row, known_sources)
            prices += _row_prices(number, row, known_sources)
    elif not findings:
        findings.append(Finding("price-format", "a price book is a mapping with sources: and rows:", ()))
    return PriceBook(source, tuple(prices), tuple(findings))


def _source_findings(key: str, row: Any) -> Iterator[Finding]:
    path: DataPath = ("sources", key)
    if not isinstance(row, dict):
        yield Finding("price-format", f"the source {key} must be a mapping", path)
        return
    if not isinstance(row.get("title"), str) or not row["title"].strip():
        yield Finding("price-without-source", f"the source {key} has no title", path, "name the page or the API call")
    if _day(row.get("date")) is None:
        message = (
            f"the source {key} has no date"
            if "date" not in row
            else f"{row['date']} is not a date of the form 2026-11-25"
        )
        yield Finding("price-without-date", message, (*path, "date"), "add the day on which its prices were valid")
    if row.get("confidence") not in _CONFIDENCE:
        message = f"the confidence of the source {key} must be one of {', '.join(_CONFIDENCE)}"
        yield Finding("price-format", message, (*path, "confidence"))


def _row_findings(number: int, row: Any, sources: dict[str, Any]) -> Iterator[Finding]:
    path: DataPath = ("rows", number)
    if not isinstance(row, dict):
        yield Finding("price-format", "a row must be a mapping", path)
        return
    if row.get("what") not in _KINDS:
        near = did_you_mean(str(row.get("what")), _KINDS)
        message = f"what must be one of {', '.join(_KINDS)}"
        yield Finding("price-format", message, (*path, "what"), f'did you mean "{near}"?' if near else None)
    named = row.get("source")
    if named is None:
        yield Finding("price-without-source", "the row has no source", path, "add a source with a date to sources:")
    elif named not in sources:
        near = did_you_mean(str(named), sources)
        message = f"the source {named} is not listed in sources:"
        yield Finding("price-without-source", message, (*path, "source"), f'did you mean "{near}"?' if near else None)
    for key in ("unit", "region"):
        if not row.get(key):
            yield Finding("price-format", f"the row has no {key}", path)
    usd = row.get("usd")
    if not isinstance(usd, dict) or not usd:
        yield Finding("price-format", "usd must have at least one price by name", (*path, "usd"))
        return
    for name, value in usd.items():
        if _bounds(value) is None:
            message = f"the price of {name} must be a number of USD, or a lowest and a highest one"
            yield Finding("price-format", message, (*path, "usd", name), severity=Severity.ERROR)


def _row_prices(number: int, row: Any, sources: dict[str, Any]) -> Iterator[BookPrice]:
    if not isinstance(row, dict) or row.get("what") not in _KINDS or not isinstance(row.get("usd"), dict):
        return
    named = sources.get(row.get("source"))  # type: ignore[arg-type]
    facts = named if isinstance(named, dict) else {}
    regions = row.get("region")
    for name, value in row["usd"].items():
        bounds = _bounds(value)
        for region in regions if isinstance(regions, list) else [regions]:
            if bounds is not None and isinstance(region, str):
                yield BookPrice(
                    kind=row["what"],
                    name=name,
                    region=region,
                    low=bounds[0],
                    high=bounds[1],
                    unit=str(row.get("unit", "")),
                    day=_day(facts.get("date")),
                    source=str(facts.get("title", "")),
                    confidence=facts["confidence"] if facts.get("confidence") in _CONFIDENCE else "verify",
                    path=("rows", number, "usd", name),
                )


def _bounds(value: Any) -> tuple[float, float] | None:
    """Return the lowest and the highest price; None unless they are numbers from 0 in ascending order."""
    ends = value if isinstance(value, list) else [value, value]
    if len(ends) != 2 or not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return None
    low, high = float(ends[0]), float(ends[1])
    return (low, high) if 0 <= low <= high < float("inf") else None


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
