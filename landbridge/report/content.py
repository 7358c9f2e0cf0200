"""Content of a report: sections of tables with bars, grids of colours, and a demand curve. Values only, no HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar from `start` to `end` on the scale of its table; `mark` is a line across it. `series` selects the colour."""

    start: float
    end: float
    series: int = 1
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class FigureRow:
    """Row of a table: a heading, the values as text, and a bar."""

    heading: str
    values: tuple[str, ...]
    bar: Bar | None = None
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Table with a caption. `headings` are those of the first column and of the values. The bars share one scale."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[FigureRow, ...]

    @property
    def scale(self) -> tuple[float, float]:
        """Return the ends of the scale, which has all bars and marks; it includes 0, unless every bar begins elsewhere."""
        bars = [row.bar for row in self.rows if row.bar is not None]
        values = [value for bar in bars for value in (bar.start, bar.end, bar.mark) if value is not None]
        return min(values, default=0.0), max(values, default=1.0)


@dataclass(frozen=True, slots=True)
class Grid:
    """Grid of values with a colour by sign and size. `unit` is that of the values, which are shown rounded."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    positive: str
    negative: str

    @property
    def largest(self) -> float:
        """Return the largest absolute value."""
        return max((abs(value) for _, values in self.rows for value in values), default=0.0)


@dataclass(frozen=True, slots=True)
class CurveLine:
    """Horizontal line of a curve."""

    name: str
    value: float
    series: int


@dataclass(frozen=True, slots=True)
class Curve:
    """Curve over time: the largest value of each of equal parts of the period, with horizontal lines to compare with."""

    caption: str
    values: tuple[float, ...]
    first_day: str
    last_day: str
    unit: str
    levels: tuple[CurveLine, ...] = ()

    @property
    def top(self) -> float:
        """Return the largest value of curve and lines."""
        return max([*self.values, *(level.value for level in self.levels)], default=0.0)


Figure = Table | Grid | Curve


@dataclass(frozen=True, slots=True)
class Section:
    """Section of the report. `key` is its anchor, `summary` its result in sentences, `sources` the origin of its figures."""

    key: str
    title: str
    summary: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    sources: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Report:
    """Report: sections in reading order. `subject` is the environment, `day` the day on which it was made."""

    subject: str
    day: str
    sections: Sequence[Section]
    assumptions: tuple[str, ...] = ()
