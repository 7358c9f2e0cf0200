"""Pages of dashboards that the site's Prometheus serves: the panels whose exporters are planned. Pure."""

from collections.abc import Collection
from typing import Any

from landbridge.catalog.observability.dashboards import DashboardPanel, dashboards
from landbridge.environment import Environment
from landbridge.plan.observability.objectives import OBJECTIVES, exporters_of, planned_objectives
from landbridge.plan.observability.targets import planned_exporters


def dashboard_pages(environment: Environment, gpu_hosts: Collection[str]) -> dict[str, Any]:
    """Return the content of each page by its name; a dashboard without a panel has no page."""
    exporters = set(planned_exporters(environment, gpu_hosts))
    if planned_objectives(environment, exporters):
        exporters.add(OBJECTIVES)
    pages = {}
    for name, dashboard in dashboards().items():
        rows = [[_panel(panel) for panel in row if _has_metrics(panel, exporters)] for row in dashboard.rows]
        if any(rows):
            pages[name] = {"title": dashboard.title, "rows": [row for row in rows if row]}
    return pages


def _has_metrics(panel: DashboardPanel, exporters: set[str]) -> bool:
    return all(exporters_of(text) <= exporters for text in panel.queries.values())


def _panel(panel: DashboardPanel) -> dict[str, Any]:
    return {**panel.model_dump(exclude={"width"}, exclude_defaults=True), "kind": panel.kind, "width": panel.columns}
