"""Dashboards: rows of panels with their queries (dashboards.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

#: Units and kinds of panels by Grafana's names.
PanelUnit = Literal["short", "currencyUSD", "s", "bytes", "Bps", "percent", "percentunit", "celsius", "watt"]
PanelKind = Literal["stat", "timeseries", "table"]


class DashboardPanel(Facts):
    """Panel: `stat` shows the last value, `table` the last values by label, `timeseries` a graph. `width` is in 24 columns.

    A word in braces in a legend, the key of a query, is a label. The panel needs attention from `bad`, or below `bad_below`.
    """

    title: str
    kind: PanelKind = "timeseries"
    queries: Mapping[str, str]
    unit: PanelUnit = "short"
    width: int | None = None
    bad: float | None = None
    bad_below: float | None = None
    about: str = ""

    @property
    def columns(self) -> int:
        """Return the width: a quarter for one value, else a half."""
        return self.width or (6 if self.kind == "stat" else 12)


class Dashboard(Facts):
    """Dashboard: rows of panels."""

    title: str
    rows: tuple[tuple[DashboardPanel, ...], ...]

    @property
    def expressions(self) -> tuple[str, ...]:
        """Return the expressions of all panels."""
        return tuple(text for row in self.rows for panel in row for text in panel.queries.values())


class Dashboards(Facts):
    """Facts of dashboards.yaml."""

    source: str
    as_of: date = Field(alias="date")
    dashboards: Mapping[str, Dashboard]


@cache
def dashboards() -> Mapping[str, Dashboard]:
    """Return the dashboards by name (cached)."""
    return read("dashboards", Dashboards).dashboards
