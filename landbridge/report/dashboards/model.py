"""Description of a dashboard: rows of panels, each with its queries."""

from dataclasses import dataclass
from typing import Literal

#: Units by Grafana's names.
PanelUnit = Literal["short", "currencyUSD", "s", "bytes"]


@dataclass(frozen=True, slots=True)
class PanelQuery:
    """Expression of PromQL; `legend` names its series by labels in double braces."""

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class DashboardPanel:
    """Panel: `stat` shows the last value, `timeseries` a graph. `width` is in 24 columns; `bad`: value from which it is red."""

    title: str
    kind: Literal["stat", "timeseries"]
    queries: tuple[PanelQuery, ...]
    unit: PanelUnit = "short"
    width: int = 12
    bad: float | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Dashboard: `uid` is stable, so that a later import replaces the earlier one."""

    uid: str
    title: str
    rows: tuple[tuple[DashboardPanel, ...], ...]
