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
    """Alert: an expression, the time for which it must hold, and the team that handles the alert."""

    expression: str
    minutes: int
    severity: AlertSeverity
    owner: str
    summary: str


class AlertInhibition(Facts):
    """Inhibition: alerts that are not sent while another one fires. Names and labels are regular expressions.

    `single`: the service whose only host the alert must have as `node`.
    """

    alert: str
    hides: str = ""
    hides_all_but: str = ""
    equal: tuple[str, ...] = ()
    when: Mapping[str, str] = {}
    only: Mapping[str, str] = {}
    single: Literal["controller", "database", "gateway", "mlops", "storage", "logs"] | None = None


class AlertRules(Facts):
    """Facts of alerts.yaml."""

    source: str
    as_of: date = Field(alias="date")
    alerts: Mapping[str, AlertRule]
    inhibitions: tuple[AlertInhibition, ...]


@cache
def _facts() -> AlertRules:
    return read("alerts", AlertRules)


def alert_rules() -> Mapping[str, AlertRule]:
    """Return the alerts by name."""
    return _facts().alerts


def alert_inhibitions() -> tuple[AlertInhibition, ...]:
    """Return the inhibitions, in their order."""
    return _facts().inhibitions


def runbook_of(name: str) -> str:
    """Return the section of an alert in the documentation."""
    return f"{RUNBOOK}#{name.lower()}"
