"""Published cost model: its rows, each with inputs and printed values."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from landbridge.economics.published.quantities import Quantity
from landbridge.environment.file.source import Source
from landbridge.findings import DataPath

Rounding = Literal["nearest", "down", "up"]
#: Value of a term: one quantity, a curve of several, or named parts that are added.
TermValue = Quantity | tuple[Quantity, ...] | dict[str, Quantity]


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """Result of a published model: its inputs by term, and its printed values (several for a curve).

    `rounded_to`: unit of the printed rounding, in the unit of the printed value. `disagreement`: reason why the printed
    value is known not to follow from the inputs.
    """

    name: str
    computes: str
    always_billed: bool
    inputs: dict[str, TermValue]
    printed: tuple[Quantity, ...]
    rounded_to: float | None
    rounded: Rounding
    disagreement: str | None
    path: DataPath


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """Published cost model, with its source and date."""

    title: str
    origin: str
    published: date
    confidence: str
    rows: tuple[PublishedRow, ...]
    source: Source
