"""Dashboards as Grafana's JSON. Pure; the data source is an input of the import."""

import re
from collections.abc import Iterator
from typing import Any

from landbridge.catalog.observability.dashboards import Dashboard, DashboardPanel

#: Source: Grafana, "Dashboard JSON model" (schemaVersion of Grafana 11, 2026-11-26); older dashboards are migrated on import.
SCHEMA_VERSION = 39
_SOURCE = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}
_HEIGHTS = {"stat": 4, "timeseries": 8, "table": 8}


def grafana_json(name: str, dashboard: Dashboard) -> dict[str, Any]:
    """Return the document that Grafana imports. Its uid is stable, so that a later import replaces the earlier one."""
    return {
        "__inputs": [
            {
                "name": "DS_PROMETHEUS",
                "label": "Prometheus",
                "type": "datasource",
                "pluginId": "prometheus",
                "pluginName": "Prometheus",
            }
        ],
        "uid": f"landbridge-{name}",
        "title": f"Landbridge: {dashboard.title}",
        "tags": ["landbridge"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "timezone": "utc",
        "templating": {"list": []},
        "panels": list(_panels(dashboard)),
    }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    """Yield the panels: each row begins below the tallest panel of the one before."""
    number, top = 1, 0
    for row in dashboard.rows:
        left = 0
        for panel in row:
            place = {"x": left, "y": top, "w": panel.columns, "h": _HEIGHTS[panel.kind]}
            yield _panel(panel, number, place)
            number, left = number + 1, left + panel.columns
        top += max(_HEIGHTS[panel.kind] for panel in row)


def _panel(panel: DashboardPanel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": _steps(panel)}},
            "overrides": [],
        },
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "expr": expression,
                "legendFormat": re.sub(r"\{(\w+)\}", r"{{\1}}", legend) or "__auto",
                "datasource": _SOURCE,
                **({"instant": True, "range": False, "format": "table"} if panel.kind == "table" else {}),
            }
            for at, (legend, expression) in enumerate(panel.queries.items())
        ],
    }


def _steps(panel: DashboardPanel) -> list[dict[str, Any]]:
    if panel.bad_below is not None:
        return [{"color": "red", "value": None}, {"color": "green", "value": panel.bad_below}]
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    return steps if panel.bad is None else [*steps, {"color": "red", "value": panel.bad}]
