"""Alerts of Landbridge, with severity, owner and the section of their runbook (alerts.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

AlertSeverity = Literal["page", "ticket", "info"]
#: Page of the documentation with a section for each alert.
RUNBOOK = "docs/how-to/when-an-alert-fires.md"


class AlertRule(Facts):
    """Alert: an expression, the time for which it must hold, and the team that acts."""

    expression: str
    minutes: int
    severity: AlertSeverity
    owner: str
    summary: str


class AlertRules(Facts):
    """Facts of alerts.yaml."""

    source: str
    as_of: date = Field(alias="date")
    alerts: Mapping[str, AlertRule]


@cache
def alert_rules() -> Mapping[str, AlertRule]:
    """Return the alerts by name (cached)."""
    return read("alerts", AlertRules).alerts


def runbook_of(name: str) -> str:
    """Return the section of an alert in the documentation."""
    return f"{RUNBOOK}#{name.lower()}"
